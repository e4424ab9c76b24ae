export interface Interval {
  from: number
  to: number
}

/** A stretch in which nothing happened, drawn as a narrow gap. Positions are shares of the width, from 0 to 1. */
export interface ScaleBreak {
  x: number
  width: number
  ms: number
}

export interface Tick {
  x: number
  /** Since the beginning of the run. */
  ms: number
}

export interface TimeScale {
  /** Where a moment lies, from 0 to 1. */
  at(ms: number): number
  breaks: ScaleBreak[]
  ticks: Tick[]
}

interface Piece extends Interval {
  x: number
  width: number
}

/** Idle time beyond this share of the busy time is collapsed. */
const LONGEST_IDLE_SHARE = 0.15
const SHORTEST_BREAK_MS = 500
const BREAK_WIDTH = 0.025
const MOST_BREAK_WIDTH = 0.3
const ROUND_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000]
const LONG_STEPS = [300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000]
const WANTED_TICKS = 6

/** Maps time to width so that work is wide and waiting is narrow: piece by piece in proportion, long waits as breaks. */
export function createTimeScale(intervals: readonly Interval[]): TimeScale {
  const busy = mergeIntervals(intervals)
  const start = busy[0]?.from ?? 0
  const busyMs = Math.max(
    1,
    busy.reduce((sum, { from, to }) => sum + (to - from), 0),
  )
  const joined = joinShortIdle(busy, Math.max(SHORTEST_BREAK_MS, busyMs * LONGEST_IDLE_SHARE))
  const breakWidth = Math.min(BREAK_WIDTH, MOST_BREAK_WIDTH / Math.max(1, joined.length - 1))
  const pieces = layOut(joined, breakWidth)
  return {
    at: (ms) => positionOf(pieces, ms),
    breaks: pieces.slice(1).map((piece, i) => {
      const before = pieces[i] ?? piece
      return { x: before.x + before.width, width: breakWidth, ms: piece.from - before.to }
    }),
    ticks: ticksOf(pieces, start),
  }
}

function mergeIntervals(intervals: readonly Interval[]): Interval[] {
  const sorted = [...intervals].sort((a, b) => a.from - b.from)
  const merged: Interval[] = []
  for (const { from, to } of sorted) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}

function joinShortIdle(busy: readonly Interval[], longestMs: number): Interval[] {
  const joined: Interval[] = []
  for (const { from, to } of busy) {
    const last = joined.at(-1)
    if (last && from - last.to <= longestMs) last.to = to
    else joined.push({ from, to })
  }
  return joined
}

/** A piece of no length still gets a little room, so that it can be seen and pointed at. */
function layOut(pieces: readonly Interval[], breakWidth: number): Piece[] {
  const room = 1 - breakWidth * Math.max(0, pieces.length - 1)
  const lengths = pieces.map(({ from, to }) => to - from)
  const least = Math.max(1, lengths.reduce((sum, ms) => sum + ms, 0) * 0.02)
  const weights = lengths.map((ms) => Math.max(ms, least))
  const total = Math.max(
    1,
    weights.reduce((sum, weight) => sum + weight, 0),
  )
  let x = 0
  return pieces.map((piece, i) => {
    const width = ((weights[i] ?? 0) / total) * room
    const laid = { ...piece, x, width }
    x += width + breakWidth
    return laid
  })
}

function positionOf(pieces: readonly Piece[], ms: number): number {
  const piece = pieces.findLast(({ from }) => from <= ms) ?? pieces[0]
  if (!piece) return 0
  const length = Math.max(1, piece.to - piece.from)
  const share = Math.min(1, Math.max(0, (ms - piece.from) / length))
  return piece.x + share * piece.width
}

/** Round distances from the beginning; the first moment of each piece always. */
function ticksOf(pieces: readonly Piece[], start: number): Tick[] {
  const total = pieces.reduce((sum, { from, to }) => sum + (to - from), 0)
  const steps = [...ROUND_STEPS, ...LONG_STEPS]
  const step = steps.find((candidate) => total / candidate <= WANTED_TICKS) ?? steps.at(-1) ?? 1
  const ticks: Tick[] = []
  for (const piece of pieces) {
    ticks.push({ x: piece.x, ms: piece.from - start })
    for (let ms = Math.ceil((piece.from - start + step / 2) / step) * step; ms < piece.to - start; ms += step) {
      ticks.push({ x: positionOf(pieces, ms + start), ms })
    }
  }
  return ticks.filter((tick, i) => i === 0 || (tick.x < 0.94 && tick.x - (ticks[i - 1]?.x ?? 0) > 0.07))
}
