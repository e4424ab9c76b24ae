import fc from 'fast-check'

// The same code gets the same verdict every time. To look elsewhere: HOLDFAST_SEED=$RANDOM npm run unit
fc.configureGlobal({ seed: Number(process.env['HOLDFAST_SEED'] ?? 1) })
