import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS } from '../../src/core/clock.ts'
import { html } from '../../src/core/html.ts'
import { sharesOf } from '../../src/shares/store.ts'
import { aRun, storeRun } from '../flows/finished-run.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1, 2, 3)
/** Matches internal identifiers and credentials. */
const OURS = /\b(?:org|usr|dom|alr|iss|int|key|lbl|chg|tst|run|shr|dlv|prj|ver|ak|pt|st|in|su)_[\w-]{20,}/

const share = (world: TestApp, id: string, body: object = {}) => world.call('POST', `/v1/audits/${id}/share`, { body })
const open = (world: TestApp, path: string) => world.app.fetch(new Request(`http://localhost${path}`))

/** Creates a shared run. Returns the run and the path of its page. */
async function shared(world: TestApp, body: object = {}) {
  const id = storeRun(world, aRun(), { picture: () => PNG })
  const { status, body: answer } = await share(world, id, body)
  expect(status).toBe(200)
  return { id, path: new URL(answer.url).pathname }
}

describe('a shared run', () => {
  test('is a page without scripts that contains the complete run', async () => {
    await using world = await testApp({ publicUrl: 'https://watch.example' })
    const { path } = await shared(world)
    const answer = await open(world, path)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; img-src 'self'; style-src 'sha256-[^']+'; base/,
      ),
    })
    const html = await answer.text()
    for (const text of [
      '<h1>Checkout</h1>',
      'Purchase without its transaction id',
      'one element found by its text',
      'text/Add to basket',
      'Step 5 (Click “Print”) failed',
      'add_to_cart',
      '19.9',
      'j***@m***.com',
      'coupon is not defined',
    ]) {
      expect(html).toContain(text)
    }
    expect(html).not.toMatch(/<script|<link|\son\w+=|javascript:|john@mail/i)
    expect(html).not.toMatch(OURS)
    expect(html).not.toContain(path.split('/')[2] ?? '')
  })

  test('serves its images under its own URL', async () => {
    await using world = await testApp()
    const { path } = await shared(world, { screenshots: true })
    const html = await (await open(world, path)).text()
    const pictures = [...html.matchAll(/<img src="([^"]+)"/g)].map(
      ([, src = '']) => new URL(src, `http://localhost${path}`),
    )
    expect(pictures.map(({ pathname, search }) => [pathname, search])).toEqual(
      [0, 1, 2, 3].map((step) => [path, `?step=${step}`]),
    )
    const picture = await open(world, `${path}?step=3`)
    expect([picture.status, picture.headers.get('content-type'), picture.headers.get('cache-control')]).toEqual([
      200,
      'image/png',
      'no-store',
    ])
    expect(new Uint8Array(await picture.arrayBuffer())).toEqual(PNG)
    for (const step of ['4', '7', '200', '-1', '../3']) {
      expect((await open(world, `${path}?step=${step}`)).status).not.toBe(200)
    }
  })

  test('shows only the selected images', async () => {
    await using world = await testApp()
    const { id, path } = await shared(world)
    expect(await (await open(world, path)).text()).not.toContain('<img')
    const statuses = (from: string) =>
      Promise.all([0, 1, 2, 3].map(async (step) => (await open(world, `${from}?step=${step}`)).status))
    expect(await statuses(path)).toEqual([404, 404, 404, 404])
    for (const screenshots of [false, undefined]) {
      const refused = await share(world, id, { screenshots, screenshotSteps: [1] })
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^screenshotSteps: /) } })
    }
    const none = await share(world, id, { screenshots: true, screenshotSteps: [1, 9] })
    expect(none).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^screenshotSteps\[1\]: step 9/) } })
    const chosen = await share(world, id, { screenshots: true, screenshotSteps: [1, 3] })
    const { pathname } = new URL(chosen.body.url)
    const html = await (await open(world, pathname)).text()
    expect([...html.matchAll(/<img src="([^"]+)"/g)].map(([, src]) => src)).toEqual(['?step=1', '?step=3'])
    expect(await statuses(pathname)).toEqual([404, 200, 404, 200])
  })

  test('is unavailable, including its images, as soon as its links are revoked', async () => {
    await using world = await testApp()
    const { id, path } = await shared(world, { screenshots: true })
    expect((await open(world, `${path}?step=3`)).status).toBe(200)
    const second = new URL((await share(world, id)).body.url).pathname
    expect(second).not.toBe(path)
    expect((await share(world, id, { revoke: true })).body).toEqual({ url: '' })
    for (const dead of [path, second, `${path}?step=3`]) {
      const { status, headers } = await open(world, dead)
      expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
    }
    world.clock.advance(1)
    const withoutBody = await world.call('POST', `/v1/audits/${id}/share`)
    expect(withoutBody.status).toBe(200)
    const third = new URL(withoutBody.body.url).pathname
    expect((await open(world, third)).status).toBe(200)
    const { app, owner, clock } = world
    const [latest, ...others] = sharesOf(app.db, owner.orgId, [id]).get(id) ?? []
    expect(latest).toMatchObject({ runId: id, revokedAt: null, expiresAt: clock.now() + 30 * DAY_MS })
    expect(others.map(({ revokedAt }) => revokedAt)).toEqual([clock.now() - 1, clock.now() - 1])
  })

  test('is unavailable after it has expired', async () => {
    await using world = await testApp()
    const { path } = await shared(world, { expiresInDays: 1 })
    world.clock.advance(DAY_MS - 1)
    expect((await open(world, path)).status).toBe(200)
    world.clock.advance(1)
    expect((await open(world, path)).status).toBe(404)
  })

  test('can only be created from a finished run of the same organization', async () => {
    await using world = await testApp()
    const waiting = storeRun(world, aRun(), { end: false })
    expect(await share(world, waiting)).toMatchObject({ status: 409 })
    expect(await share(world, 'run_01ke7k3h20x6b4n8r1t9v5c7zd')).toMatchObject({ status: 404 })
    const { id } = await shared(world)
    for (const expiresInDays of [0, 91, 1.5]) expect((await share(world, id, { expiresInDays })).status).toBe(400)
    expect((await share(world, id, { days: 3 })).body.error).toContain('days: there is no such field')
    const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
    const headers = { 'x-org-id': other.id }
    expect(await world.call('POST', `/v1/audits/${id}/share`, { body: {}, headers })).toMatchObject({ status: 404 })
  })

  test('is deleted with its run', async () => {
    await using world = await testApp()
    const { path } = await shared(world)
    world.app.db.exec('DELETE FROM flowTest')
    expect((await open(world, path)).status).toBe(404)
  })

  test('allows a limited number of guessed links per IP address', async () => {
    await using world = await testApp({ rateSigninPerMinute: '60' })
    const { path } = await shared(world, { screenshots: true })
    const guess = async () => (await open(world, `/share/${'x'.repeat(43)}?step=1`)).status
    const tries = await Promise.all(Array.from({ length: 61 }, guess))
    expect(tries.filter((status) => status === 404)).toHaveLength(60)
    // Requests that are sent together can be handled in any order.
    expect(tries.filter((status) => status === 429)).toHaveLength(1)
    // The page exists, but its screenshot URLs can't be guessed.
    expect((await open(world, `${path}?step=1`)).status).toBe(200)
  })

  test('shows hostile values as plain text everywhere', async () => {
    await using world = await testApp()
    const mark = '"><img src=x onerror=alert(1)></style><script>alert(2)</script><!--\u202e&amp;\'`'
    const facts = JSON.parse(
      JSON.stringify(aRun(), (key, value) =>
        typeof value === 'string' && !['type', 'status', 'kind'].includes(key) ? `${mark} ${value}` : value,
      ),
    )
    facts.events[0].params = { [mark]: mark, constructor: mark, __proto__x: mark }
    const id = storeRun(world, facts, { name: mark, picture: () => PNG })
    const html = await (
      await open(world, new URL((await share(world, id, { screenshots: true })).body.url).pathname)
    ).text()
    expect(html).not.toContain('<script')
    expect(html).not.toContain('src=x onerror=alert(1)>')
    expect(html).not.toContain('\u202e')
    const tags = new Set([...html.matchAll(/<([a-z]\w*)/gi)].map(([, name]) => name))
    expect([...tags].filter((name) => ['script', 'iframe', 'object', 'a', 'form'].includes(name ?? ''))).toEqual([])
    expect([...html.matchAll(/<img /g)]).toHaveLength(4)
    // The logo.
    expect([...html.matchAll(/<svg\b/g)]).toHaveLength(1)
  })

  test('escapes any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const made = html`<p title="${text}">${text}</p>`.text
        const inside = made.slice('<p title="'.length, -'</p>'.length)
        expect(inside.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toMatch(/[<"'].*[<"'].*[<"']|</)
      }),
    )
  })
})
