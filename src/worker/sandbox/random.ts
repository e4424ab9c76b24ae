export type RandomSeed = readonly [number, number]

/**
 * The chance a script sees: sfc32, grown from two numbers that the host drew and recorded. A script in another thread
 * cannot ask the host in the middle of an expression; it can be given all its chance at once.
 */
export function createRandom([first, second]: RandomSeed): () => number {
  let a = (first * 2 ** 32) >>> 0
  let b = (second * 2 ** 32) >>> 0
  let c = 0x9e3779b9
  let counter = 1

  const next = (): number => {
    const sum = (a + b + counter) >>> 0
    counter = (counter + 1) >>> 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) >>> 0
    c = ((c << 21) | (c >>> 11)) >>> 0
    c = (c + sum) >>> 0
    return sum
  }
  for (let i = 0; i < 12; i += 1) next()
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53
}
