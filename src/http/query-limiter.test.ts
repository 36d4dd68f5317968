import { describe, expect, test } from 'bun:test'
import { memoryDb } from '../../test/fixtures.ts'
import { Closed, Type } from '../core/schema.ts'
import { performer } from './perform-call.ts'
import type { Principal } from './principal.ts'
import { QUERY_LIMITS, QueryLimiter } from './query-limiter.ts'
import { abortRequest, requestSignal } from './request-abort-signal.ts'
import { type Call, route } from './route.ts'

const caller = (userId: string, orgId: string, keyId: string | null = 'key_1'): Principal => ({
  via: keyId ? 'key' : 'session',
  userId,
  orgId,
  role: 'viewer',
  readOnly: true,
  keyId,
  sessionId: keyId ? null : 'session',
})

/** Sets up a route whose queries are completed by the test, and a list of the queries that have started. */
function setUp(insightWaitMs?: number) {
  const begun: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const questions = new QueryLimiter(QUERY_LIMITS, insightWaitMs)
  const perform = performer({ db: memoryDb(), audit: () => {}, queryLimiter: questions })
  const asking = (question: boolean | 'insights') =>
    route({
      id: 'ask',
      method: 'GET',
      path: '/v1/ask',
      access: 'read',
      tag: 'Test',
      summary: 'Test',
      question,
      answer: Closed({ ok: Type.Boolean() }),
      async handle({ principal: { userId } }) {
        begun.push(userId)
        await promise
        return { ok: true }
      },
    })
  const ask = (
    principal: Principal,
    {
      question = true,
      signal = new AbortController().signal,
    }: { question?: boolean | 'insights'; signal?: AbortSignal } = {},
  ) => {
    const call: Call = {
      principal,
      params: {},
      query: {},
      body: undefined,
      signal,
      origin: { address: null, userAgent: null },
    }
    return perform(asking(question), call) as Promise<unknown>
  }
  return { begun, questions, ask, answer: resolve }
}

const { atOnce, perCaller, perOrganization } = QUERY_LIMITS

describe('concurrent queries', () => {
  test('of one user leave slots for the organization, and those of one organization leave a slot for others', () => {
    const { begun, ask } = setUp()
    for (let n = 0; n < 10; n++) void ask(caller('usr_a', 'org_1'))
    expect(begun).toEqual(Array(perCaller).fill('usr_a'))
    for (let n = 0; n < 10; n++) void ask(caller('usr_b', 'org_1'))
    expect(begun.length).toBe(perOrganization)
    void ask(caller('usr_c', 'org_2'))
    expect(begun.length).toBe(atOnce)
    expect(begun.at(-1)).toBe('usr_c')
  })

  test('from all keys and sessions of a user count as one caller', () => {
    const { begun, ask } = setUp()
    for (const key of ['key_1', 'key_2', 'key_3', null, null]) void ask(caller('usr_1', 'org_1', key))
    expect(begun).toEqual(Array(perCaller).fill('usr_1'))
    void ask(caller('usr_2', 'org_1', null))
    expect(begun.at(-1)).toBe('usr_2')
  })

  test('are all answered eventually, except those rejected because too many are waiting', async () => {
    const { ask, answer, questions } = setUp()
    const results = Array.from({ length: 30 }, () => ask(caller('usr_a', 'org_1')))
    const settled = Promise.allSettled(results)
    await Promise.resolve()
    expect(questions.load).toEqual({ running: perCaller, waiting: 20 })
    answer()
    const answers = await settled
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBe(22)
    for (const one of answers.slice(22)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'rateLimited', retryAfterS: 10 } })
    }
    expect(questions.load).toEqual({ running: 0, waiting: 0 })
  })

  test('free their slot when they are aborted', async () => {
    const { begun, ask } = setUp()
    const controller = new AbortController()
    const { signal } = controller
    const results = Array.from({ length: 22 }, () => ask(caller('usr_a', 'org_1'), { signal }))
    const waiting = Promise.allSettled(results.slice(perCaller))
    void ask(caller('usr_b', 'org_1'))
    controller.abort()
    for (const one of await waiting) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    }
    expect(begun).toEqual(['usr_a', 'usr_a', 'usr_b'])
  })

  test('do not delay other routes', () => {
    const { begun, ask } = setUp()
    for (let n = 0; n < 10; n++) void ask(caller('usr_a', 'org_1'))
    const before = begun.length
    for (let n = 0; n < 10; n++) void ask(caller('usr_a', 'org_1'), { question: false })
    expect(begun.length).toBe(before + 10)
  })
})

describe('insight queries', () => {
  const question = 'insights' as const

  test('run at most two at a time, and no other queries wait for them', async () => {
    const { begun, ask, answer } = setUp()
    const asked = ['org_1', 'org_2', 'org_3', 'org_4'].map((org) => ask(caller(`usr_${org}`, org), { question }))
    expect(begun).toEqual(['usr_org_1', 'usr_org_2'])
    asked.push(...Array.from({ length: atOnce }, (_, n) => ask(caller(`search_${n}`, `org_${n}`))))
    expect(begun.length).toBe(2 + atOnce)
    answer()
    await Promise.all(asked)
  })

  test('that wait too long are rejected with a retry time', async () => {
    const { begun, ask, questions, answer } = setUp(1)
    const answered = [1, 2].map((n) => ask(caller(`usr_${n}`, 'org_1'), { question }))
    const late = ask(caller('usr_3', 'org_2'), { question })
    expect(late).rejects.toMatchObject({ code: 'unavailable', retryAfterS: 10 })
    await late.catch(() => {})
    expect(questions.load).toEqual({ running: 2, waiting: 0 })
    answer()
    await Promise.all(answered)
    expect(begun).toEqual(['usr_1', 'usr_2'])
  })
})

describe('the abort signal of a request', () => {
  test.each<[string, (request: Request, caller: AbortController) => void]>([
    ['its caller disconnects', (_request, caller) => caller.abort()],
    ['it takes too long', (request) => abortRequest(request)],
  ])('aborts when %s', (_why, end) => {
    const controller = new AbortController()
    const request = new Request('http://localhost/', { signal: controller.signal })
    const signal = requestSignal(request)
    expect([signal.aborted, requestSignal(request)]).toEqual([false, signal])
    end(request, controller)
    expect(signal.aborted).toBe(true)
  })

  test('is already aborted when its caller has disconnected', () => {
    const request = new Request('http://localhost/', { signal: AbortSignal.abort() })
    expect(requestSignal(request).aborted).toBe(true)
  })
})
