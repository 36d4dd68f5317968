import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ga4, harOf } from '../../src/gate/har.fixture.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import {
  ask,
  initialize,
  PROGRAM,
  runProgram,
  type Server,
  startServer,
  temporaryFolder,
  until,
} from '../run-program.ts'

/*
 * The release gate with a server: alerts, labels and domains come from it, runs are stored on it, baselines are approved
 * on it, and flow tests are run by it against a preview of a release.
 */

const PURCHASE = { 'ep.transaction_id': 'A-1', cu: 'EUR' }
const ALERT = {
  name: 'Purchase without transaction id',
  alertType: 'data_validation',
  severity: 'high',
  filters: [{ parameter: '$label', op: 'equals', values: ['Orders'] }],
  conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
  period: '1h',
  channels: [{ type: 'email', target: 'owners' }],
}

/** A shop. The preview of its next release has lost the purchase. */
const page = (release: string) => {
  const send = (event: string, more = '') =>
    `navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-SHOP&cid=1.2&en=${event}${more}')`
  const purchase = release === 'preview' ? '' : send('purchase', '&ep.transaction_id=A-1&cu=EUR')
  const wait = release === 'endless' ? `<script>setInterval(() => fetch('/wait'), 50)</script>` : ''
  return new Response(
    `<!doctype html><title>Shop</title><button id="buy">Buy</button>${wait}
     <script>${send('page_view')}; document.querySelector('button').onclick = () => { ${purchase} }</script>`,
    { headers: { 'content-type': 'text/html' } },
  )
}

let shop: ReturnType<typeof Bun.serve>
let server: Server
let key: string
let domainId: string
const data = temporaryFolder()
const files = temporaryFolder()

beforeAll(async () => {
  shop = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => page(new URL(url).pathname.slice(1)),
  })
  key = await initialize(data.path)
  server = await startServer(data.path, {
    env: { TAGWARDEN_CHROMIUM: await installedChromium(), TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1' },
  })
  const post = (path: string, body: object) => ask('POST', `${server.url}${path}`, key, body)
  domainId = (await post('/v1/domains', { name: 'shop.example' })).id
  await post('/v1/domains', { name: 'blog.example' })
  await post('/v1/insights/labels/assign', {
    label: 'Orders',
    members: [{ vendor: 'Google Analytics 4', event: 'purchase' }],
  })
  await post('/v1/alerts', { ...ALERT, domainId })
  await Bun.write(join(files.path, 'right.har'), JSON.stringify(harOf([ga4('page_view'), ga4('purchase', PURCHASE)])))
  await Bun.write(
    join(files.path, 'broken.har'),
    JSON.stringify(harOf([ga4('page_view'), ga4('purchase', { cu: 'EUR' })])),
  )
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await shop?.stop(true)
  for (const folder of [data, files]) folder[Symbol.dispose]()
})

const verify = (line: string, as = key) =>
  runProgram(['verify', ...line.split(' '), '--url', server.url, '--format', 'json'], {
    cwd: files.path,
    env: { TAGWARDEN_KEY: as },
  })
const read = (path: string) => ask('GET', `${server.url}${path}`, key)

describe('a recording', () => {
  test('is judged by the alerts and labels of the server, and the run is stored', async () => {
    expect((await verify('--har right.har --ref v1 --name shop')).code).toBe(0)
    const { code, stdout, stderr } = await verify('--har broken.har --ref v2 --name shop')
    expect({ code, finding: JSON.parse(stdout).findings[0].sentence }).toEqual({
      code: 1,
      finding: 'Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks',
    })
    const { runs } = await read('/v1/gate-runs?name=shop')
    expect(runs).toMatchObject([
      { ref: 'v2', status: 'failed', problems: 1, domainId },
      { ref: 'v1', status: 'passed', problems: 0, domainId },
    ])
    expect(stderr).toBe(`verify: stored as ${server.url}/gate/${runs[0].id}\n`)
    const change = { domainId, source: 'ci', ref: 'v2', title: 'Release 2' }
    expect((await ask('POST', `${server.url}/v1/changes`, key, change)).gateRun).toMatchObject({ id: runs[0].id })
  })

  test('is compared with the approved run', async () => {
    const line = '--har right.har --name approved --baseline approved'
    expect(await verify(line)).toMatchObject({ code: 2, stderr: expect.stringContaining('is approved yet') })
    expect(await verify(`${line} --approve`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('is now the approved baseline'),
    })
    expect((await verify(line)).code).toBe(0)
    const [approved] = (await read('/v1/gate-runs?name=approved&approved=true')).runs
    const { stdout } = await verify(`--har broken.har --name approved --baseline ${approved.id} --no-record`)
    expect(JSON.parse(stdout).findings.map(({ kind }: { kind: string }) => kind)).toEqual(['rule', 'wrong_data'])
    const [latest] = (await read('/v1/gate-runs?name=approved')).runs
    expect(await verify(`--har right.har --baseline ${latest.id}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not approved'),
    })
  })

  test('keeps its verdict when it can not be stored', async () => {
    const { secret } = await ask('POST', `${server.url}/v1/keys`, key, { name: 'CI', expiresInDays: 7, readOnly: true })
    const { code, stderr } = await verify('--har right.har', secret)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('the result could not be stored: ') })
    expect(await verify('--har right.har', 'ak_wrong')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('401'),
    })
    expect(await verify('--har right.har --domain dom_none')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no such domain'),
    })
  })
})

describe('a flow test', () => {
  const base = () => `http://127.0.0.1:${shop.port}`
  const create = (name: string, values: object = {}) =>
    ask('POST', `${server.url}/v1/flows/tests`, key, {
      name,
      domainId,
      recording: {
        title: name,
        steps: [
          { type: 'navigate', url: `${base()}/live` },
          { type: 'click', selectors: ['#buy'], offsetX: 5, offsetY: 5 },
        ],
      },
      expectations: [{ step: 1, vendor: 'Google Analytics 4', event: 'purchase', withinMs: 3000 }],
      retries: 0,
      ...values,
    })

  test('is run against a preview, and its findings are the result', async () => {
    await create('Buy')
    const right = await verify(
      `--flow Buy --start-url ${base()}/next --ref v3 --name flow --baseline approved --approve`,
    )
    expect(right).toMatchObject({ code: 0, stderr: expect.stringContaining('flow test “Buy”: passed') })
    expect(JSON.parse(right.stdout).events).toMatchObject([
      { event: 'page_view' },
      { event: 'purchase', parameters: ['cu', 'ep.transaction_id'] },
    ])
    const broken = await verify(`--flow Buy --start-url ${base()}/preview --ref v4 --name flow`)
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.stdout).findings[0].sentence).toStartWith(
      'Google Analytics 4 purchase did not fire in step 2',
    )
    expect((await read('/v1/gate-runs?name=flow')).runs).toMatchObject([
      { ref: 'v4', status: 'failed' },
      { ref: 'v3', status: 'passed' },
    ])
    expect(await verify('--flow Other')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no such flow test: Other'),
    })
    expect(await verify('--flow Buy --start-url nonsense')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('startUrl'),
    })
  })

  test('is cancelled after the time limit, and when the command is interrupted', async () => {
    // The expected event never fires, so the run waits for it.
    const { id } = await create('Endless', { expectations: [{ vendor: 'Hotjar', event: 'never', withinMs: 60_000 }] })
    const late = await verify(`--flow Endless --timeout 2`)
    expect(late).toMatchObject({ code: 2, stderr: expect.stringContaining('did not end within 2 s; it was cancelled') })
    const statuses = async () =>
      (await read(`/v1/flows/runs?testId=${id}`)).runs.map(({ status }: { status: string }) => status)
    expect(await statuses()).toEqual(['cancelled'])
    const child = Bun.spawn([...PROGRAM, 'verify', '--flow', id, '--url', server.url], {
      env: { ...process.env, TAGWARDEN_KEY: key },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await until('the run to start', async () => (await statuses())[0] === 'running')
    child.kill('SIGINT')
    expect(await child.exited).toBe(2)
    expect(await new Response(child.stderr).text()).toContain('interrupted; the run')
    expect((await statuses())[0]).toBe('cancelled')
  })
})
