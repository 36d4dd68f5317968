import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * The shop displays a typed secret and sends it in every possible way. The secret must not appear in any response,
 * notification, shared page, screenshot, log or file of the run.
 */

/** The same characters, so that both secrets are equally wide when displayed. */
const SECRETS = ['Horse+Battery 7&9', 'Battery+Horse 9&7']

const SHOP = `<!doctype html><title>Shop</title>
<style>* { font: 20px sans-serif; font-kerning: none; caret-color: transparent }</style>
<input id=pass aria-label=Password> <button id=buy>Buy now</button>
<p id=echo></p><div id=host></div><svg width=600 height=40><text id=drawn y=30></text></svg>
<script>
  host.attachShadow({ mode: 'open' }).innerHTML = '<b></b>'
  const ga4 = (name, more) => navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=' + name + more)
  ga4('page_view', '')
  buy.onclick = () => {
    const { value } = pass
    document.title = 'Thanks ' + value
    echo.textContent = 'You said ' + value
    host.shadowRoot.querySelector('b').textContent = value
    drawn.textContent = value
    console.error('could not send ' + value)
    setTimeout(() => { throw new Error('no such coupon: ' + value) })
    ga4('purchase', '&ep.coupon=' + encodeURIComponent(value) + '&ep.code=' + btoa(value) + '&dt=' + encodeURIComponent(document.title))
    fetch('/orders?coupon=' + encodeURIComponent(value), { method: 'POST', body: JSON.stringify({ coupon: value }), headers: { 'x-coupon': btoa(value) } })
    history.pushState(null, '', '/thanks?coupon=' + encodeURIComponent(value))
  }
</script>`

let server: ReturnType<typeof Bun.serve>
let world: TestApp
/** Requested URLs. */
const asked: string[] = []
const sent: string[] = []
const transport = {
  async send(outbound: object) {
    sent.push(JSON.stringify(outbound))
    return { kind: 'status', status: 200, headers: {}, body: 'ok' } as const
  },
}
beforeAll(async () => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      asked.push(url)
      return new Response(SHOP, { headers: { 'content-type': 'text/html' } })
    },
  })
  const settings = {
    chromium: await installedChromium(),
    outboundAllow: '127.0.0.1',
    smtpUrl: 'smtp://127.0.0.1:9',
    smtpFrom: 'watch@example.com',
    publicUrl: 'https://watch.example',
  }
  world = await testApp(settings, { transport: transport as never })
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await server?.stop(true)
})

/** Returns the secret as it may appear in URLs, forms, JSON and headers. */
function formsOf(secret: string): string[] {
  const inUrl = encodeURIComponent(secret)
  const inForm = new URLSearchParams({ x: secret }).toString().slice('x='.length)
  return [secret, inUrl, inForm, encodeURIComponent(inUrl), btoa(secret), JSON.stringify(secret).slice(1, -1)]
}

const showing = (secret: string, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).flatMap(([name, text]) =>
    formsOf(secret).flatMap((form) => (text.includes(form) ? `${name} has ${form}` : [])),
  )

/** Runs a flow test that types the secret and has a finding about the coupon. Returns the run. */
async function run(secret: string) {
  const made = await world.call('POST', '/v1/flows/tests', {
    body: {
      name: 'Buy',
      recording: {
        title: 'Buy',
        steps: [
          { type: 'navigate', url: `http://127.0.0.1:${server.port}/` },
          { type: 'change', selectors: ['#pass'], value: '{{password}}' },
          { type: 'click', selectors: ['#buy'] },
          { type: 'waitForExpression', expression: 'document.title === "never {{password}}"', timeout: 500 },
        ],
      },
      expectations: [
        {
          step: 2,
          vendor: 'Google Analytics 4',
          event: 'purchase',
          data: [{ parameter: 'ep.coupon', op: 'equals', values: ['SPRING'] }],
        },
      ],
      secrets: { password: secret },
      retries: 0,
      timeoutS: 600,
      channels: [
        { type: 'email', target: 'ann@example.com' },
        { type: 'webhook', target: 'https://hooks.example/x' },
        { type: 'team_chat', target: 'https://chat.example/x' },
        { type: 'office_chat', target: 'https://office.example/x' },
      ],
    },
  })
  expect(made.status).toBe(201)
  const queued = await world.call('POST', `/v1/flows/tests/${made.body.id}/run`, { body: {} })
  await world.app.idle()
  // Slack accepts one message per second.
  for (let round = 0; round < 3; round++) {
    world.clock.advance(MINUTE_MS)
    await world.run('deliver')
  }
  return (await world.call('GET', `/v1/flows/runs/${queued.body.id}`)).body
}

async function pictures(run: { id: string; steps: { index: number; screenshot: boolean }[] }): Promise<string[]> {
  const shots = run.steps.filter(({ screenshot }) => screenshot)
  return Promise.all(
    shots.map(async ({ index }) => {
      const path = `/v1/flows/runs/${run.id}/steps/${index}/screenshot`
      const request = new Request(`http://localhost${path}`, {
        headers: { authorization: `Bearer ${world.owner.apiKey}` },
      })
      return Buffer.from(await (await world.app.fetch(request)).bytes()).toString('base64')
    }),
  )
}

/** Returns the content of every file in a folder and its subfolders. */
function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }).map(String)
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'latin1')]))
}

test("a flow test's secret appears in no output of its run", async () => {
  const [secret = '', other = ''] = SECRETS
  const failed = await run(secret)
  expect(failed).toMatchObject({ status: 'failed', summary: { stepsPassed: 3 } })
  const kinds = failed.findings.map(({ kind }: { kind: string }) => kind)
  expect(kinds.toSorted()).toEqual(['step_failed', 'wrong_data'])
  expect(JSON.stringify(failed)).toContain('***')

  const { issues } = (await world.call('GET', '/v1/issues')).body
  expect(issues).toHaveLength(2)
  const { deliveries } = (await world.call('GET', '/v1/notifications/deliveries')).body
  expect(new Set(deliveries.map(({ status }: { status: string }) => status))).toEqual(new Set(['delivered']))
  expect(deliveries).toHaveLength(8)
  const { url } = (await world.call('POST', `/v1/audits/${failed.id}/share`, { body: {} })).body
  const page = await (await world.app.fetch(new Request(`http://localhost${new URL(url).pathname}`))).text()
  expect(page).toContain('<h1>Buy</h1>')

  const paths = [
    '/v1/flows/tests',
    '/v1/flows/runs',
    '/v1/flows/reports',
    `/v1/flows/tests/${failed.testId}`,
    ...['', '/har'].map((more) => `/v1/flows/runs/${failed.id}${more}`),
    ...issues.flatMap(({ id }: { id: string }) => [`/v1/issues/${id}`, `/v1/issues/${id}/evidence`]),
    '/v1/issues',
    '/v1/notifications/deliveries',
    ...deliveries.map(({ id }: { id: string }) => `/v1/notifications/deliveries/${id}`),
  ]
  const answers: Record<string, string> = {}
  for (const path of paths) {
    const { status, body } = await world.call('GET', path)
    expect([path, status]).toEqual([path, 200])
    answers[path] = JSON.stringify(body)
  }
  expect(sent.length).toBeGreaterThanOrEqual(4)
  const messages = Object.fromEntries(sent.map((text, n) => [`message ${n}`, text]))
  const texts = { ...answers, ...messages, page, log: world.lines.join('\n'), ...filesIn(world.folder) }
  expect(showing(secret, { shop: asked.join() })).not.toEqual([])
  expect(showing(secret, texts)).toEqual([])

  // The screenshots are equal regardless of the typed secret.
  const again = await run(other)
  const [shown, shownAgain] = [await pictures(failed), await pictures(again)]
  expect(shown.length).toBe(4)
  expect(shownAgain.map((picture, step) => picture === shown[step])).toEqual([true, true, true, true])
})
