import { expect, type Locator, type Page } from '@playwright/test'
import type { Result } from '#engine/model/result.ts'
import type { EngineApi } from '#worker/api.ts'

type Value<R> = R extends Promise<Result<infer T>> ? T : never

/** The frame around every screen, and the engine behind it. */
export class AppPage {
  readonly page: Page
  readonly chip: Locator
  readonly toasts: Locator

  constructor(page: Page) {
    this.page = page
    this.chip = page.getByRole('status', { name: 'Engine' })
    this.toasts = page.getByRole('log', { name: 'Notifications' })
  }

  async open(address = '#/'): Promise<void> {
    await this.page.goto(`./${address}`)
    await expect(this.chip).toContainText(/Running|Follower/)
  }

  /** Changes the address as a link would, without loading the page anew. */
  async go(address: string): Promise<void> {
    await this.page.evaluate((hash) => {
      location.hash = hash
    }, address)
  }

  heading(name: string | RegExp): Locator {
    return this.page.getByRole('heading', { level: 1, name })
  }

  /** Asks the engine itself, and insists that it agrees. */
  async ask<M extends keyof EngineApi>(
    method: M,
    ...args: Parameters<EngineApi[M]>
  ): Promise<Value<ReturnType<EngineApi[M]>>> {
    const answer = await this.page.evaluate(
      ([name, given]) =>
        (globalThis.holdfast[name] as unknown as (...all: unknown[]) => Promise<Result<unknown>>)(...given),
      [method, args as unknown[]] as const,
    )
    if (!answer.ok) throw new Error(`${method}: ${answer.error.message}`)
    return answer.value as Value<ReturnType<EngineApi[M]>>
  }

  async deploy(source: string): Promise<string> {
    return (await this.ask('deployWorkflow', { source })).workflowId
  }

  settle(): Promise<unknown> {
    return this.ask('idle', { timeoutMs: 60_000 })
  }
}
