-- Sorting, closures, strings, patterns and tables with names as keys: what a Lua program does.
-- lua words.lua ROUNDS [SEED]
local rounds, seed = tonumber(arg[1]), tonumber(arg[2]) or 7919
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local numbers, letters = {}, 0
for round = 1, rounds do
  for i = 1, 2000 do numbers[i] = (i * (seed + round)) % 10007 end
  table.sort(numbers)
  local parts = {}
  for i = 1, 500 do parts[#parts + 1] = string.format("%d:%s", i * seed, ("x"):rep(i % 7)) end
  for word in table.concat(parts, ","):gmatch("%d+") do letters = letters + #word end
  local counts = {}
  for i = 1, 1000 do
    local key = "k" .. (i * seed % 97)
    counts[key] = (counts[key] or 0) + 1
  end
  letters = letters + fib(15)
end
print(letters)
