import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { readFlowTest } from '../../src/flows/read-flow-test-input.ts'
import { headlineOf } from '../../src/flows/run-headline.ts'
import type { RunEvent, RunFinding, StepResult } from '../../src/flows/run-result.ts'
import { beginAttempt, endRun, queueRun, type RunFacts, summaryOf } from '../../src/flows/run-store.ts'
import { createFlowTest } from '../../src/flows/store.ts'
import type { TestApp } from '../test-app.ts'

const STEPS = ['Open shop.example', 'Click “Add to basket”', 'Enter the e-mail address', 'Click “Buy”', 'Click “Print”']

export const FINDINGS: RunFinding[] = [
  {
    kind: 'wrong_data',
    step: 3,
    vendor: 'Google Analytics 4',
    event: 'purchase',
    sentence: 'Google Analytics 4 purchase in step 4 (Click “Buy”) had no `ep.transaction_id`',
    expected: '`ep.transaction_id` is not blank',
    observed: 'no `ep.transaction_id`',
  },
  {
    kind: 'step_failed',
    step: 4,
    vendor: null,
    event: null,
    expected: null,
    sentence: 'Step 5 (Click “Print”) failed: there is no such element',
    observed: 'there is no such element',
  },
]

const event = (step: number, fields: Partial<RunEvent>): RunEvent => ({
  step,
  at: 0,
  vendor: 'Google Analytics 4',
  event: 'page_view',
  account: 'G-ABC123',
  params: { dt: 'Shop' },
  host: 'shop.example',
  path: '/',
  status: 204,
  answered: true,
  ...fields,
})

/** Returns a run with findings and five steps, one of them healed and one failed. */
export function aRun(): RunFacts {
  const steps = STEPS.map(
    (title, index): StepResult => ({
      index,
      type: index === 0 ? 'navigate' : index === 2 ? 'change' : 'click',
      title,
      status: 'passed',
      startedAt: index * SECOND_MS,
      durationMs: 300 + 40 * index,
      error: null,
      healed: null,
      screenshot: index < 4,
    }),
  )
  steps[1] = {
    ...steps[1],
    status: 'healed',
    healed: { before: 'aria/Add to cart', after: 'text/Add to basket' },
  } as StepResult
  steps[4] = { ...steps[4], status: 'failed', error: 'there is no such element' } as StepResult
  return {
    steps,
    findings: FINDINGS,
    events: [
      event(0, {}),
      event(0, {
        vendor: 'Meta Pixel',
        event: 'PageView',
        account: '1234567',
        params: { dl: 'https://shop.example/' },
      }),
      event(1, { event: 'add_to_cart', params: { 'epn.value': '19.9', cu: 'EUR' } }),
      event(3, {
        event: 'purchase',
        path: '/thanks',
        params: { 'epn.value': '19.9', 'ep.mail': 'john@mail.example.com' },
      }),
    ],
    errors: ['ReferenceError: coupon is not defined (https://shop.example/shop.js:7)'],
    elements: {},
  }
}

/**
 * Stores a flow test with one run, which is finished unless `end` is false. Each step with a screenshot gets a stored
 * screenshot.
 */
export function storeRun(
  world: TestApp,
  facts: RunFacts,
  {
    name = 'Checkout',
    orgId = world.owner.orgId,
    end = true,
    picture,
  }: { name?: string; orgId?: string; end?: boolean; picture?: (step: number) => Uint8Array } = {},
): string {
  const { app, clock, folder } = world
  const recording = { title: name, steps: [{ type: 'navigate', url: 'https://shop.example/' }] }
  const settings = readFlowTest({ name, recording }, clock.now())
  const test = createFlowTest({ db: app.db, box: app.box, clock }, orgId, settings, {})
  const { id } = queueRun(app.db, clock.now(), test, { trigger: 'manual', region: 'local' })
  if (!end) return id
  beginAttempt(app.db, id, clock.now())
  const { steps, findings } = facts
  endRun(
    app.db,
    id,
    {
      status: findings.length > 0 ? 'failed' : 'passed',
      pausedMs: 900,
      error: null,
      finishedAt: clock.now() + MINUTE_MS,
      summary: summaryOf(facts, steps.length),
      headline: headlineOf({ steps, findings, error: null }),
    },
    facts,
  )
  mkdirSync(join(folder, 'runs', id), { recursive: true })
  for (const { index, screenshot } of steps) {
    if (screenshot && picture) writeFileSync(join(folder, 'runs', id, `step-${index}.png`), picture(index))
  }
  return id
}
