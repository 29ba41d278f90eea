"""What a Redis server does in one go, in its own language.

Rule: what has to hold together is one script; each may run twice and does it once. They do not know what rows
mean.
"""

from __future__ import annotations

from typing import Final

# KEYS: rows, times. ARGV: id, revision, time, row; and so on. A row is kept as "REVISION row".
PUT: Final = """
for i = 1, #ARGV, 4 do
    local known = redis.call('HGET', KEYS[1], ARGV[i])
    if not known or tonumber(string.match(known, '^%d+')) < tonumber(ARGV[i + 1]) then
        redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1] .. ' ' .. ARGV[i + 3])
        redis.call('ZADD', KEYS[2], ARGV[i + 2], ARGV[i])
    end
end
"""

# KEYS: the writer's log, writers. ARGV: writer, wall, number of the first, lines.
APPEND: Final = """
local known = redis.call('HGET', KEYS[2], ARGV[1])
local number = tonumber(ARGV[3])
local last, base, wall = number - 1, number - 1, '0'
if known then last, base, wall = string.match(known, '^(%d+) (%d+) (.*)$') end
last = tonumber(last)
for i = 4, #ARGV do
    if number > last then
        redis.call('XADD', KEYS[1], string.format('%d-0', number), 'line', ARGV[i])
        last = number
    end
    number = number + 1
end
if tonumber(ARGV[2]) > tonumber(wall) then wall = ARGV[2] end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%d %d ', last, base) .. wall)
"""

# KEYS: dump, writers. ARGV: prefix of logs, seen, dump, wall, least seconds, seconds until forgotten.
SAVE: Final = """
local seen = cjson.decode(ARGV[2])
local now = tonumber(ARGV[4])
local before = redis.call('HMGET', KEYS[1], 'seen', 'old_wall', 'old_seen')
for writer, number in pairs(cjson.decode(before[1] or '{}')) do
    if (seen[writer] or 0) < number then return 0 end
end
local kept = {}
local writers = redis.call('HGETALL', KEYS[2])
for i = 1, #writers, 2 do
    local writer = writers[i]
    local last, wall = string.match(writers[i + 1], '^(%d+) %d+ (.*)$')
    local number = seen[writer] or 0
    if tonumber(wall) < now - tonumber(ARGV[6]) and number >= tonumber(last) then
        redis.call('DEL', ARGV[1] .. writer)
        redis.call('HDEL', KEYS[2], writer)
    elseif number > 0 then
        kept[#kept + 1] = cjson.encode(writer) .. string.format(':%d', number)
    end
end
local text = '{' .. table.concat(kept, ',') .. '}'
local old_wall, old_seen = before[2] or ARGV[4], before[3] or text
if now - tonumber(old_wall) >= tonumber(ARGV[5]) then
    for writer, number in pairs(cjson.decode(old_seen)) do
        redis.call('XTRIM', ARGV[1] .. writer, 'MINID', string.format('%d-0', number + 1))
    end
    old_wall, old_seen = ARGV[4], text
end
redis.call('HSET', KEYS[1], 'seen', text, 'content', ARGV[3], 'old_wall', old_wall, 'old_seen', old_seen)
return 1
"""
