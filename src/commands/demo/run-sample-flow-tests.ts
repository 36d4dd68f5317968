import { setTimeout } from 'node:timers/promises'
import type { AuditInput } from '../../audits/audit.ts'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import type { FlowTestInput } from '../../flows/flow-test.ts'
import type { ShopWebsite } from './shop-website.ts'
import type { Call } from './simulated-program.ts'

/** Ids of the flow tests in the sample organization. */
export interface FlowTestIds {
  buying: string
  joining: string
}

/** Initial delay. It leaves the processor to the web pages at first, because a browser occupies a core. */
const BEGIN_MS = 4 * SECOND_MS
const ASK_EVERY_MS = SECOND_MS
/** Generous timeout, so that a busy machine does not make the shop look faulty. */
const STEP_MS = MINUTE_MS
const MOST_RUNS = 3
const GA4 = 'Google Analytics 4'
const clickOn = (id: string) => ({ type: 'click', selectors: [`#${id}`], offsetX: 8, offsetY: 8 })
const NAVIGATES = { assertedEvents: [{ type: 'navigation' }] }

/** Creates the flow tests without running them. */
export async function createFlowTests(call: Call, origin: string, domainId: string): Promise<FlowTestIds> {
  const shared = {
    domainId,
    retries: 0,
    severity: 'medium',
    timeoutS: 300,
    channels: [{ type: 'email', target: 'marketing@shop.example' }],
  } satisfies Partial<FlowTestInput>
  const make = async (input: FlowTestInput) => ((await call('POST', '/v1/flows/tests', input)) as { id: string }).id
  const buying = await make({
    ...shared,
    name: 'Buy a blue shirt',
    recording: {
      title: 'Buy a blue shirt',
      timeout: STEP_MS,
      steps: [
        { type: 'navigate', url: `${origin}/category/shirts` },
        { ...clickOn('blue'), ...NAVIGATES },
        { ...clickOn('add'), ...NAVIGATES },
        { ...clickOn('buy'), ...NAVIGATES },
      ],
    },
    expectations: [
      { step: 1, vendor: GA4, event: 'view_item' },
      { step: 2, vendor: GA4, event: 'add_to_cart', data: [{ parameter: 'ep.currency', op: 'not_blank' }] },
      { step: 2, vendor: 'Meta Pixel', event: 'AddToCart' },
      { step: 3, vendor: GA4, event: 'purchase', data: [{ parameter: 'ep.transaction_id', op: 'not_blank' }] },
      { step: 3, vendor: 'Meta Pixel', event: 'Purchase' },
    ],
    impactValue: 9000,
  })
  const joining = await make({
    ...shared,
    name: 'Join the newsletter',
    recording: {
      title: 'Join the newsletter',
      timeout: STEP_MS,
      steps: [{ type: 'navigate', url: `${origin}/newsletter` }, clickOn('join')],
    },
    expectations: [
      { step: 0, vendor: GA4, event: 'page_view' },
      { step: 1, vendor: GA4, event: 'sign_up' },
    ],
  })
  return { buying, joining }
}

const auditOf = (origin: string, domainId: string): AuditInput => ({
  name: 'The whole shop',
  domainId,
  startUrls: [`${origin}/`],
  delayMs: 0,
  settleMs: 300,
  severity: 'low',
  expect: [
    { vendor: GA4, event: 'page_view' },
    { path: '^/thank-you', vendor: GA4, event: 'purchase' },
  ],
})

/**
 * Runs both flow tests, which pass, and then releases a new version of the shop. After the release, one flow test runs
 * again, heals a step and fails, and the shop is audited. Ends early when `stopping` is aborted.
 */
export async function runFlowTests(
  call: Call,
  { storefront, domainId, tests }: { storefront: ShopWebsite; domainId: string; tests: FlowTestIds },
  stopping: AbortSignal,
): Promise<void> {
  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stopping }).catch(() => undefined)
  const run = async (testId: string) => {
    const { id } = (await call('POST', `/v1/flows/tests/${testId}/run`, {})) as { id: string }
    while (!stopping.aborted) {
      const { status } = (await call('GET', `/v1/flows/runs/${id}`)) as { status: string }
      if (status !== 'queued' && status !== 'running') return status
      await pause(ASK_EVERY_MS)
    }
    return null
  }
  await pause(BEGIN_MS)
  for (const testId of [tests.joining, tests.buying]) {
    // On a busy machine, a browser may fail to start, so a failed run is repeated.
    for (let n = 0; n < MOST_RUNS && !stopping.aborted; n++) if ((await run(testId)) === 'passed') break
  }
  storefront.release()
  if (!stopping.aborted) await run(tests.joining)
  if (!stopping.aborted) await call('POST', '/v1/audits', auditOf(storefront.origin, domainId))
}
