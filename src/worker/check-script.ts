import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import { validateScript } from '#engine/script/validate.ts'
import type { ScriptCheck } from './api.ts'
import { describePermission } from './tools/permissions.ts'

/** What deploying a script would say, without deploying it: a script with mistakes is an answer, not a failure. */
export const createScriptCheck =
  (sandbox: Sandbox) =>
  async (source: unknown): Promise<Result<ScriptCheck>> => {
    if (typeof source !== 'string')
      return err(engineError('invalid_input', 'There is no script to check: pass its text.'))
    const checked = await validateScript(sandbox, source)
    if (!checked.ok) return ok({ problems: checked.error, config: null, permissions: [] })
    const { config, warnings } = checked.value
    return ok({
      problems: warnings,
      config,
      permissions: config.permissions.map((name) => ({ name, meaning: describePermission(name) ?? null })),
    })
  }
