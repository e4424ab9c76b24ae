/** Enough for any script that was written by hand; a script made to be hard to align keeps the columns it has. */
const MAX_COMPARISONS = 10_000_000

interface Budget {
  comparisons: number
}

/**
 * Puts what is left of each line back to the columns it had in the source, by spaces where types were taken out. Lines that
 * are not merely shorter than the source (an `enum`, a parameter property) stay as they are: their columns are not the user's.
 */
export function alignColumns(source: string, stripped: string): string {
  const sourceLines = source.split('\n')
  const budget = { comparisons: MAX_COMPARISONS }
  return stripped
    .split('\n')
    .map((line, index) => alignLine(sourceLines[index] ?? '', line, budget) ?? line)
    .join('\n')
}

function alignLine(source: string, line: string, budget: Budget): string | undefined {
  if (source === line) return line
  let aligned = ''
  let from = 0
  for (let at = 0; at < line.length;) {
    const gap = source[from] === line[at] ? 0 : longestRunAfterGap(source, from, line, at, budget)
    if (gap === undefined) return undefined
    const run = commonLength(source, from + gap, line, at)
    aligned += ' '.repeat(gap) + line.slice(at, at + run)
    from += gap + run
    at += run
  }
  return aligned
}

/** Types repeat the names of values, so the nearest match is often inside the type. The longest one hardly ever is. */
function longestRunAfterGap(
  source: string,
  from: number,
  line: string,
  at: number,
  budget: Budget,
): number | undefined {
  let best: number | undefined
  let bestRun = 0
  for (let gap = 1; from + gap < source.length && budget.comparisons > 0; gap += 1) {
    const run = commonLength(source, from + gap, line, at)
    budget.comparisons -= run + 1
    if (run > bestRun) [best, bestRun] = [gap, run]
  }
  return budget.comparisons > 0 ? best : undefined
}

function commonLength(a: string, fromA: number, b: string, fromB: number): number {
  let length = 0
  while (fromB + length < b.length && a[fromA + length] === b[fromB + length]) length += 1
  return length
}
