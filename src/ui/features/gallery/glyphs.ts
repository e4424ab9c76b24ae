/** Line drawings on a grid of 24 by 24, for pictures that are put together from them. */
export const glyphs = {
  mail: 'M3 6h18v12H3zM3 7l9 6 9-6',
  sheet: 'M4 4h16v16H4zM4 9.3h16M4 14.6h16M10 9.3V20',
  chat: 'M4 5h16v11h-9l-4 4v-4H4zM8 9h8M8 12h5',
  archive: 'M3 4h18v4H3zM5 8v12h14V8M10 12h4',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 2',
  pulse: 'M2 12h5l2-6 4 12 2-6h7',
  reply: 'M9 7l-5 5 5 5M4 12h10a6 6 0 0 1 6 6',
  split: 'M3 12h6M9 12l9-6M9 12h9M9 12l9 6M15 5l3 1-1 3M16 10l2 2-2 2M17 15l1 3-3 1',
  stack: 'M12 3l9 4.5-9 4.5-9-4.5zM3 12l9 4.5 9-4.5M3 16.5L12 21l9-4.5',
  bell: 'M6 10a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 21c0-4 3.5-6 8-6s8 2 8 6',
  check: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M8 12l3 3 5-6',
  money: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M15.5 8.5A4.5 4.5 0 1 0 15.5 15.5M6.5 11h6M6.5 13.5h5',
  box: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  chart: 'M4 4v16h16M8 16v-4M12 16V8M16 16v-6',
  feed: 'M5 19a1 1 0 1 0 0-.01M4 11a9 9 0 0 1 9 9M4 4a16 16 0 0 1 16 16',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18',
  pen: 'M4 20l1-5L16 4l4 4L9 19zM13.5 6.5l4 4',
  list: 'M9 6h12M9 12h12M9 18h12M3.5 6l1 1 2-2M3.5 12l1 1 2-2M3.5 18l1 1 2-2',
} as const

export type Glyph = keyof typeof glyphs
