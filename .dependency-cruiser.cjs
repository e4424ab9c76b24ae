/** Each rule is one arrow of ARCHITECTURE.md that must not exist. */

/**
 * @param {string} name
 * @param {string} comment
 * @param {string} from
 * @param {string} to
 * @param {object} [more]
 */
const never = (name, comment, from, to, more = {}) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: to, ...more },
})

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', comment: 'Modules form no circles.', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'everything-resolves',
      comment: 'An import that leads nowhere, or an npm package that package.json does not list.',
      severity: 'error',
      from: {},
      // Vite resolves what a package exports by a name of its own; the cruiser does not read every such map, the compiler does.
      to: { couldNotResolve: true, pathNot: ['^virtual:', '/wasm\\?url$', '^@lucide/svelte/icons/'] },
    },
    never(
      'engine-stands-alone',
      'The engine knows neither its host nor its screens.',
      '^src/engine/',
      '^src/(worker|ui)/',
    ),
    never('worker-has-no-screens', 'The worker knows no screens.', '^src/worker/', '^src/ui/'),
    never('ui-sees-the-api-only', 'Screens know the worker by its api.', '^src/ui/', '^src/worker/(?!api\\.ts$)'),
    never('ui-takes-types-from-the-api', 'api.ts holds types only.', '^src/ui/', '^src/worker/api\\.ts$', {
      dependencyTypesNot: ['type-only'],
    }),
    never(
      'ui-sees-the-model-only',
      'Screens know the nouns of the engine, not its doings; the editor reads the authoring types as text.',
      '^src/ui/',
      '^src/engine/(?!model/|script/authoring\\.ts$)',
    ),
    never('src-does-not-test', 'Shipped code imports no tests.', '^src/', '^tests/'),
    never(
      'relative-paths-stay-inside',
      'Across folders of src: #engine/…, #worker/…, #ui/….',
      '^src/([^/]+)/',
      '^src/(?!$1/)',
      {
        dependencyTypesNot: ['aliased'],
      },
    ),
    never('model-stands-alone', 'model is the ground floor.', '^src/engine/model/', '^src/engine/(?!model/)'),
    never('machine-knows-the-model', 'Decisions are pure.', '^src/engine/machine/', '^src/engine/(?!machine/|model/)'),
    never('ports-know-the-model', 'Ports speak in nouns.', '^src/engine/ports/', '^src/engine/(?!ports/|model/)'),
    never('script-does-not-run', 'Authoring knows no runtime.', '^src/engine/script/', '^src/engine/runtime/'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Shipped as text: what they import, the sandbox provides.
    // And what runs where scripts/bench-peers.mjs has installed its packages.
    exclude: { path: ['^src/ui/features/gallery/templates/', '^tests/bench/peers/.*\\.mjs$'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'svelte', 'types', 'default'],
      extensions: ['.ts', '.js', '.svelte', '.d.ts'],
    },
  },
}
