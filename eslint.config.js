import js from '@eslint/js'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import { defineConfig, globalIgnores } from 'eslint/config'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

const FOLDERS = ['engine', 'worker', 'ui']

/** Imports name the file with its extension, so that every tool resolves them alike. */
const extensionIsSpelled = {
  regex: '^(?:\\.{1,2}/|#(?:engine|worker|ui)/)(?!.*\\.(?:ts|svelte|css|sql|json|mjs)(?:\\?.*)?$)',
  message: 'Spell the extension: ./x.ts, #engine/model/x.ts.',
}

/**
 * Relative paths stay inside a folder of src; other folders are reached as #engine/…, #worker/…, #ui/….
 * @param {string} folder
 * @returns {import('eslint').Linter.Config}
 */
function importsOf(folder) {
  const others = FOLDERS.filter((name) => name !== folder).join('|')
  return {
    files: [`src/${folder}/**/*.{ts,svelte}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            extensionIsSpelled,
            {
              regex: `^(?:\\.\\./)+(?:${others}|src)/`,
              message: 'Across folders of src import #engine/…, #worker/…, #ui/….',
            },
            { regex: `^#${folder}/`, message: 'Inside a folder of src import by relative path.' },
          ],
        },
      ],
    },
  }
}

const onlyTransitionsWrite = {
  selector: 'CallExpression[callee.property.name=/^(transaction|together)$/]',
  message: 'Only src/engine/runtime/transitions opens a transaction: it is the one writer.',
}

const timeComesFromTheClock = [
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
    message: 'The engine takes the time from the clock port.',
  },
  { selector: 'CallExpression[callee.name="Date"]', message: 'The engine takes the time from the clock port.' },
]

const OUTSIDE_WORLD = ['setTimeout', 'setInterval', 'queueMicrotask', 'fetch', 'console', 'crypto', 'performance']

export default defineConfig(
  globalIgnores([
    'dist/',
    'coverage/',
    'test-results/',
    'playwright-report/',
    'peers.local/',
    // Scripts as a user writes them, shipped as text: a test holds them against the authoring types and runs them.
    'src/ui/features/gallery/templates/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },

  js.configs.recommended,
  ts.configs.strictTypeChecked,
  ts.configs.stylisticTypeChecked,
  svelte.configs.recommended,

  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname, extraFileExtensions: ['.svelte'] },
    },
    rules: {
      eqeqeq: 'error',
      'no-undef': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Ports and what factories return are closures: none of them has a `this` to lose.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: {
      // Of SvelteKit: the hash router here is our own.
      'svelte/no-navigation-without-resolve': 'off',
      // State is replaced whole ($state.raw); the Maps and Sets beside it are plain buffers on purpose.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    // The linter does not see what svelte-check does: the types that snippets get from a generic component.
    files: ['**/*.svelte'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-plus-operands': 'off',
    },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    extends: [ts.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
    rules: { 'no-undef': 'error' },
  },

  ...FOLDERS.map(importsOf),
  {
    files: ['tests/**/*.ts'],
    rules: {
      // Playwright reads a fixture's first parameter: `{}` says that it needs no other.
      'no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            extensionIsSpelled,
            { regex: '^(?:\\.\\./)+src/', message: 'Tests import the code as #engine/…, #worker/…, #ui/….' },
          ],
        },
      ],
    },
  },

  { files: ['src/**/*.{ts,svelte}'], rules: { 'no-restricted-syntax': ['error', onlyTransitionsWrite] } },
  { files: ['src/worker/sqlite/**'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['src/engine/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...OUTSIDE_WORLD],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'The engine takes the time from the clock port.' },
        { object: 'Math', property: 'random', message: 'The engine takes chance from the random port.' },
      ],
      'no-restricted-syntax': ['error', onlyTransitionsWrite, ...timeComesFromTheClock],
    },
  },
  {
    files: ['src/engine/runtime/transitions/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...timeComesFromTheClock] },
  },
)
