import { expect } from 'bun:test'
import type { Answer } from '../fixtures.ts'

/** The same characters in a different order, so that the screenshots are equal if the characters are covered. */
const TYPED = ['4929 1234 8888 7777', '7777 8888 1234 4929'] as const
const PEOPLE = ['ann.miller@mail.example.com', 'nan.rellim@mail.example.com'] as const

const page = (who: string) => `<!doctype html><title>Pay</title>
<style>* { font: 20px sans-serif; font-kerning: none; caret-color: transparent }</style>
<input id=card aria-label=Card><button id=pay>Pay</button>
<p>Signed in as ${who}</p><p><i>${who.split('@')[0]}</i>@<b>${who.split('@')[1]}</b></p><input value="${who}" size=40>
<p id=groups></p><p id=plain></p>
<script>
  pay.onclick = () => {
    const digits = card.value.replaceAll(' ', '')
    groups.innerHTML = digits.match(/.{4}/g).map((group) => '<span style="margin-right:8px">' + group + '</span>').join('')
    plain.textContent = digits
  }
</script>`

/** The program under attack: functions that call the API with any credential and wait for a run. */
export interface Shown {
  /** @param as the credential; the owner’s by default, null for none */
  call(method: string, path: string, body?: object, as?: string | null): Promise<Pick<Answer, 'status' | 'body'>>
  /** Like `call`, for responses that are not JSON. */
  get(path: string, as?: string | null): Promise<{ status: number; bytes: Uint8Array }>
  ended(runId: string): Promise<unknown>
}

/** Requests the screenshots of a run in every possible way as a member, a viewer and a stranger. */
export async function attackScreenshots({ call, get, ended }: Shown): Promise<void> {
  let visitor = 0
  using shop = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(page(PEOPLE[visitor] ?? ''), { headers: { 'content-type': 'text/html' } }),
  })
  const runAs = async (number: number) => {
    visitor = number
    const steps = [
      { type: 'navigate', url: `http://127.0.0.1:${shop.port}/` },
      { type: 'change', selectors: ['#card'], value: '{{card}}' },
      { type: 'click', selectors: ['#pay'] },
    ]
    const test = { name: 'Pay', recording: { title: 'Pay', steps }, secrets: { card: TYPED[number] }, retries: 0 }
    const made = await call('POST', '/v1/flows/tests', test)
    expect([made.status, made.body.error ?? null]).toEqual([201, null])
    const { body } = await call('POST', `/v1/flows/tests/${made.body.id}/run`, {})
    await ended(body.id)
    const run = (await call('GET', `/v1/flows/runs/${body.id}`)).body
    expect(run.status).toBe('passed')
    return run
  }
  const shots = (run: { id: string }, as?: string) =>
    Promise.all([0, 1, 2].map((step) => get(`/v1/flows/runs/${run.id}/steps/${step}/screenshot`, as)))

  const [run, other] = [await runAs(0), await runAs(1)]
  const [first, second] = [await shots(run), await shots(other)]
  expect(first.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(first.map(({ bytes }) => bytes.length > 1000)).toEqual([true, true, true])
  expect(first.map(({ bytes }, step) => Bun.deepEquals(bytes, second[step]?.bytes))).toEqual([true, true, true])

  const invited = await call('POST', '/v1/org/members', { email: 'vera@example.com', role: 'viewer' })
  const accepted = { token: invited.body.inviteToken, password: 'a long pass phrase' }
  const viewer = String((await call('POST', '/v1/auth/invite', accepted, null)).body.token)
  expect((await shots(run, viewer)).map(({ status }) => status)).toEqual([403, 403, 403])
  const seen = (await call('GET', `/v1/flows/runs/${run.id}`, undefined, viewer)).body
  expect(seen.steps.map(({ screenshot }: { screenshot: boolean }) => screenshot)).toEqual([false, false, false])

  const share = async (input: object) => {
    const { status, body } = await call('POST', `/v1/audits/${run.id}/share`, input)
    expect([status, body.error ?? null]).toEqual([200, null])
    const { pathname } = new URL(body.url)
    return Promise.all([0, 1, 2].map(async (step) => (await get(`${pathname}?step=${step}`, null)).status))
  }
  expect(await share({})).toEqual([404, 404, 404])
  expect(await share({ screenshots: true, screenshotSteps: [2] })).toEqual([404, 404, 200])
  expect(await share({ screenshots: true })).toEqual([200, 200, 200])
  const asViewer = await call('POST', `/v1/audits/${run.id}/share`, { screenshots: true }, viewer)
  expect(asViewer.status).toBe(403)
}
