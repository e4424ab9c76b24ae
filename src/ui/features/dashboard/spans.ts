export const spanWords = { '1h': 'Last hour', '6h': 'Last 6 hours', '24h': 'Last 24 hours' } as const
export type Span = keyof typeof spanWords

const HOUR_MS = 3_600_000
export const spanQueries: Record<Span, { sinceMs: number; buckets: number }> = {
  '1h': { sinceMs: HOUR_MS, buckets: 30 },
  '6h': { sinceMs: 6 * HOUR_MS, buckets: 36 },
  '24h': { sinceMs: 24 * HOUR_MS, buckets: 48 },
}

export const spanOf = (text: string): Span => (Object.keys(spanWords) as Span[]).find((span) => span === text) ?? '6h'
