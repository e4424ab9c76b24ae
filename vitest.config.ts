import { defineConfig } from 'vitest/config'

const notUnit = ['tests/e2e/**', 'tests/bench/**', '**/*.long.test.ts', '**/node_modules/**']

export default defineConfig({
  test: {
    environment: 'node',
    passWithNoTests: true,
    projects: [
      // x.test.ts, x.property.test.ts and x.crash.test.ts
      {
        extends: true,
        // A test that hangs is found out; one on a busy machine is not blamed for it.
        test: {
          name: 'unit',
          setupFiles: ['tests/support/fixed-seed.ts'],
          include: ['tests/**/*.test.ts'],
          exclude: notUnit,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { extends: true, test: { name: 'long', include: ['tests/**/*.long.test.ts'], testTimeout: 24 * 60 * 60 * 1000 } },
      { extends: true, test: { name: 'bench', include: ['tests/bench/**/*.bench.ts'], testTimeout: 10 * 60 * 1000 } },
      // By scripts/bench-peers.mjs, which installs and starts what is measured.
      { extends: true, test: { name: 'peers', include: ['tests/bench/peers/*.measure.ts'] } },
    ],
  },
})
