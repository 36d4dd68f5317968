import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Browsing, BrowsingOptions } from '../../src/browser/browsing.ts'
import type { KnownElement } from '../../src/flows/known-element.ts'
import type { RecordedStep } from '../../src/flows/recorder-export.ts'
import type { RunEvent, StepResult } from '../../src/flows/run-result.ts'
import { walkIn } from '../../src/flows/walk/walk.ts'
import type { WalkMessage, WalkPlan } from '../../src/flows/walk-plan.ts'
import { browse, browsingOptions } from '../browser/browse.ts'
import { temporaryFolder } from '../run-program.ts'

export interface WalkResult {
  told: WalkMessage[]
  /** Contents of all written files. */
  files: string
  steps: StepResult[]
  statuses: StepResult['status'][]
  elements: (KnownElement | null)[]
  events: RunEvent[]
  error: string | null
  errors: readonly string[]
}

/** A site with pages by path, and a browser that runs recordings on it. Closed at the end of the block. */
export interface WalkFixture extends AsyncDisposable {
  /** Origin of the site. Also the `base` variable of recordings. */
  base: string
  browsing: Browsing
  walked(
    steps: readonly RecordedStep[],
    more?: Partial<WalkPlan>,
    onTold?: (message: WalkMessage) => void,
  ): Promise<WalkResult>
}

/** HTML of a page; with a status if the page does not respond with 200. */
export type Page = string | { status: number; html: string }

/** Starts the site and the browser. `{{base}}` in a page is replaced with the origin of the site. */
export async function openWalkFixture(
  pages: Readonly<Record<string, Page>>,
  options: Partial<BrowsingOptions> = {},
): Promise<WalkFixture> {
  const site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request): Response {
      const { pathname, origin } = new URL(request.url)
      if (pathname === '/file') return new Response('x', { headers: { 'Content-Disposition': 'attachment' } })
      const page = pages[pathname] ?? { status: 404, html: 'gone' }
      const { status, html } = typeof page === 'string' ? { status: 200, html: page } : page
      return new Response(html.replaceAll('{{base}}', origin), { status, headers: { 'Content-Type': 'text/html' } })
    },
  })
  const base = `http://127.0.0.1:${site.port}`
  const browsing = await browse(options)
  return {
    base,
    browsing,
    walked: (steps, more = {}, onTold = () => {}) =>
      walkInFixture(browsing, steps, { values: { base }, ...more }, onTold),
    async [Symbol.asyncDispose]() {
      await browsing[Symbol.asyncDispose]()
      await site.stop(true)
    },
  }
}

/** Runs the steps in an open browser, which may still have tabs from an earlier run. */
export async function walkInFixture(
  browsing: Browsing,
  steps: readonly RecordedStep[],
  more: Partial<WalkPlan>,
  onTold: (message: WalkMessage) => void = () => {},
): Promise<WalkResult> {
  using folder = temporaryFolder()
  const plan: WalkPlan = {
    browsing: await browsingOptions(folder.path),
    recording: { title: '', timeout: 1500, steps },
    values: {},
    secretHosts: {},
    expectations: [],
    labels: {},
    consent: { mode: 'none', selectors: [] },
    elements: {},
    refused: {},
    timeoutMs: 60_000,
    folder: folder.path,
    ...more,
  }
  const told: WalkMessage[] = []
  for (const tab of browsing.tabs().filter((one) => one !== browsing.page)) await tab.close()
  const tell = (message: WalkMessage) => {
    told.push(message)
    onTold(message)
  }
  await walkIn(browsing, plan, tell, new AbortController().signal)
  const done = told.find((message) => message.kind === 'done')
  const stepped = told.filter((message) => message.kind === 'step')
  const files = [...new Glob('*').scanSync(folder.path)].map((name) => readFileSync(join(folder.path, name), 'latin1'))
  return {
    told,
    files: files.join(''),
    steps: stepped.map(({ step }) => step),
    statuses: stepped.map(({ step }) => step.status),
    elements: stepped.map(({ element }) => element),
    events: told.flatMap((message) => (message.kind === 'event' ? [message.event] : [])),
    error: done?.error ?? null,
    errors: done?.errors ?? [],
  }
}

export const open = (path = '/'): RecordedStep => ({ type: 'navigate', url: `{{base}}${path}` })
export const click = (...selectors: (string | string[])[]): RecordedStep => ({ type: 'click', selectors })
