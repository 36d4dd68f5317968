import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Tests flow tests end to end: the API, a browser in a separate process, findings and issues. Only the clock is
 * replaced.
 */

const SECRET = 'horse battery 7&staple'

/** Content of the shop's pages, changed by tests. */
const shop = { buys: true, button: '<button id="buy">Buy now</button>' }

const page = (body: string) =>
  new Response(`<!doctype html><title>Shop</title><body>${body}`, { headers: { 'content-type': 'text/html' } })

const GA4 = 'https://www.google-analytics.com/g/collect?v=2&tid=G-SHOP123&cid=1.2'
const send = (event: string, more = '') => `navigator.sendBeacon(${JSON.stringify(`${GA4}&en=${event}${more}`)})`

function serve(request: Request): Response {
  const { pathname } = new URL(request.url)
  if (pathname === '/thanks') return page(`<h1>Thanks</h1><script>${send('thanks')}</script>`)
  if (pathname === '/away') return Response.redirect('http://127.0.0.2:8123/')
  if (pathname !== '/') return new Response('', { status: 404 })
  const buy = shop.buys ? send('purchase', '&ep.transaction_id=T-1&cu=EUR') : ''
  return page(`<input id="pass" type="password" aria-label="Password">${shop.button}
    <script>${send('page_view')}
      document.querySelector('button').onclick = () => { ${buy}; location.href = '/thanks' }</script>`)
}

let server: ReturnType<typeof Bun.serve>
let world: TestApp
beforeAll(async () => {
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: serve })
  world = await testApp({ chromium: await installedChromium(), outboundAllow: '127.0.0.1' })
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await server?.stop(true)
})

const flow = () => ({
  name: 'Buy',
  recording: {
    title: 'Buy',
    steps: [
      { type: 'navigate', url: `http://127.0.0.1:${server.port}/` },
      { type: 'change', selectors: ['#pass'], value: '{{password}}' },
      { type: 'click', selectors: ['#buy'], offsetX: 5, offsetY: 5, assertedEvents: [{ type: 'navigation' }] },
    ],
  },
  expectations: [
    { step: 0, vendor: 'Google Analytics 4', event: 'page_view' },
    {
      step: 2,
      vendor: 'Google Analytics 4',
      event: 'purchase',
      data: [{ parameter: 'cu', op: 'equals', values: ['EUR'] }],
    },
  ],
  secrets: { password: SECRET },
  retries: 0,
})

/** Runs the flow test and waits for its end. */
async function run(testId: string, body: object = {}) {
  const queued = await world.call('POST', `/v1/flows/tests/${testId}/run`, { body })
  expect(queued).toMatchObject({ status: 201, body: { status: 'queued', trigger: 'api', testId } })
  await world.app.idle()
  world.clock.advance(MINUTE_MS)
  return (await world.call('GET', `/v1/flows/runs/${queued.body.id}`)).body
}

test('a run performs the flow in a browser and is evaluated', async () => {
  const made = await world.call('POST', '/v1/flows/tests', { body: flow() })
  expect(made).toMatchObject({ status: 201, body: { secrets: ['password'], status: 'never_run', version: 1 } })
  const passed = await run(made.body.id)
  expect(passed).toMatchObject({ status: 'passed', error: null, findings: [], attempts: 1 })
  expect(passed.steps.map(({ status }: { status: string }) => status)).toEqual(['passed', 'passed', 'passed'])
  expect(passed.events.map(({ step, event }: { step: number; event: string }) => [step, event])).toEqual([
    [0, 'page_view'],
    [2, 'purchase'],
    [2, 'thanks'],
  ])
  const shot = await world.call('GET', `/v1/flows/runs/${passed.id}/steps/2/screenshot`)
  expect([shot.status, shot.headers.get('content-type')]).toEqual([200, 'image/png'])
  const har = await world.call('GET', `/v1/flows/runs/${passed.id}/har`)
  expect(har.body.log.version).toBe('1.2')
  const own = await world.call('GET', `/v1/flows/runs/${passed.id}/expectations`)
  expect(own.body.expectations.length).toBeGreaterThan(0)

  shop.buys = false
  const failed = await run(made.body.id)
  expect(failed).toMatchObject({ status: 'failed', error: null, summary: { findings: 1, stepsPassed: 3 } })
  expect(failed.findings).toMatchObject([{ kind: 'missing', step: 2, event: 'purchase' }])
  const { issues } = (await world.call('GET', `/v1/issues?alertId=${made.body.id}`)).body
  expect(issues).toMatchObject([{ alertType: 'flow_test', status: 'open', severity: 'medium' }])

  shop.buys = true
  shop.button = '<button id="order">Buy now</button>'
  const healed = await run(made.body.id)
  expect(healed).toMatchObject({ status: 'passed', summary: { healedSteps: 1 } })
  expect((await world.call('GET', `/v1/issues?alertId=${made.body.id}`)).body.issues[0].status).toBe('resolved')
  const waiting = (await world.call('GET', `/v1/flows/tests/${made.body.id}`)).body.healing
  expect(waiting).toMatchObject([{ step: 2, before: '#buy', runId: healed.id }])
  const body = { step: 2, approve: true }
  const approved = await world.call('POST', `/v1/flows/tests/${made.body.id}/healing`, { body })
  expect(approved).toMatchObject({ status: 200, body: { version: 2, healing: [] } })
  expect((await run(made.body.id)).steps[2]).toMatchObject({ status: 'passed', healed: null })

  const { reports } = (await world.call('GET', '/v1/flows/reports')).body
  expect(reports.map(({ run }: { run: { status: string } }) => run.status)).toEqual([
    'passed',
    'passed',
    'failed',
    'passed',
  ])
  // Reports omit empty fields.
  expect(JSON.stringify(reports)).not.toContain('null')
})

test('a secret appears in no response, log line or file', async () => {
  const { id } = (await world.call('POST', '/v1/flows/tests', { body: flow() })).body
  const { id: runId } = await run(id)
  const forms = [SECRET, encodeURIComponent(SECRET), SECRET.replaceAll(' ', '+').replace('&', '%26'), btoa(SECRET)]
  const paths = ['/v1/flows/tests', `/v1/flows/tests/${id}`, `/v1/flows/runs/${runId}`, `/v1/flows/runs/${runId}/har`]
  const answers = await Promise.all(paths.map(async (path) => JSON.stringify((await world.call('GET', path)).body)))
  const files = ['tagwarden.db', 'tagwarden.db-wal', `runs/${runId}/requests.har`].map((name) =>
    join(world.folder, name),
  )
  const texts = [
    ...answers,
    world.lines.join('\n'),
    ...files.filter(existsSync).map((path) => readFileSync(path, 'latin1')),
  ]
  expect(forms.filter((form) => texts.some((text) => text.includes(form)))).toEqual([])
})

test('a page blocked by the address guard fails the run with the reason', async () => {
  const { id } = (await world.call('POST', '/v1/flows/tests', { body: { ...flow(), expectations: [] } })).body
  const refused = await run(id, { startUrl: `http://127.0.0.1:${server.port}/away` })
  expect(refused).toMatchObject({ status: 'failed' })
  expect(refused.findings[0].sentence).toContain('127.0.0.2')
})
