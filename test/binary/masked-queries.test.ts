import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask, BINARY, call, initialize, type Server, startServer, temporaryFolder, until } from '../run-program.ts'

const ADDRESS = 'maria.quint@hidden.example'
const LETTERS = 'abcdefghijklmnopqrstuvwxyz.@'

describe.skipIf(BINARY === null)('a viewer who guesses a masked e-mail address', () => {
  const data = temporaryFolder()
  let server: Server
  let viewer: string
  beforeAll(async () => {
    const owner = await initialize(data.path)
    server = await startServer(data.path)
    const { token } = await ask('POST', `${server.url}/v1/domains`, owner, { name: 'Shop' })
    const invited = await ask('POST', `${server.url}/v1/org/members`, owner, { email: 'v@example.com', role: 'viewer' })
    const invitation = JSON.stringify(invited).match(/#invite=([\w-]+)/)?.[1] ?? ''
    const accepted = await call('POST', `${server.url}/v1/auth/invite`, {
      body: { token: invitation, password: 'correct horse battery staple', name: 'Viewer' },
    })
    viewer = accepted.body.token
    await ask('POST', `${server.url}/api/v1/events`, token, {
      events: [
        { id: 'one', vendor: 'Shop', event: 'buy', params: { email: ADDRESS, note: `to ${ADDRESS}` } },
        { id: 'two', vendor: 'Shop', event: `buy ${ADDRESS}`, params: { colour: 'red' } },
      ],
    })
    await until('the events to be found', async () => {
      const { body } = await call('GET', `${server.url}/v1/events`, { as: owner })
      return body.events.length === 2 ? body : null
    })
  })
  afterAll(async () => {
    await server?.stop()
    data[Symbol.dispose]()
  })

  const count = async (path: string, noun: string): Promise<number> =>
    (await ask('GET', `${server.url}${path}`, viewer))[noun].length
  const matched = async (what: 'preview' | 'backtest', op: string, value: string): Promise<unknown> => {
    const rule = {
      name: 'Guess',
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'email', op, values: [value] }] },
      period: '1h',
      channels: [{ type: 'email', target: 'v@example.com' }],
    }
    const body = await ask('POST', `${server.url}/v1/alerts/${what}`, viewer, { rule })
    return what === 'preview' ? body.matched : body.buckets.some(({ matchCount }: { matchCount: number }) => matchCount)
  }
  const asked = (text: string) => encodeURIComponent(text)

  /** Kinds of queries. Each function returns the result for a guessed part of the e-mail address. */
  const WAYS: Record<string, (text: string) => Promise<unknown>> = {
    'a substring search': (text) => count(`/v1/events?q=${asked(text)}`, 'events'),
    'a parameter filter': (text) => count(`/v1/events?param=${asked(`email=${text}`)}`, 'events'),
    'a preview with starts_with': (text) => matched('preview', 'starts_with', text),
    'a preview with regex': (text) => matched('preview', 'regex', `^${text.replaceAll('.', '\\.')}`),
    'a backtest with starts_with': (text) => matched('backtest', 'starts_with', text),
    'a search for names': (text) => count(`/v1/search?q=${asked(`buy ${text}`)}`, 'results'),
    'a dictionary query': (text) => count(`/v1/events/dictionary?event=${asked(`buy ${text}`)}`, 'vendors'),
  }

  test('sees the e-mail address masked', async () => {
    const { events } = await ask('GET', `${server.url}/v1/events`, viewer)
    expect(JSON.stringify(events)).toContain('m***@h***.example')
    expect(JSON.stringify(events)).not.toContain('maria')
  })

  test.each(Object.entries(WAYS))('gets the same response for right and wrong guesses with %s', async (_, way) => {
    // Compares increasingly long correct prefixes with the same prefixes ending in a different letter.
    for (const length of [3, 7, 12, 15]) {
      const right = ADDRESS.slice(0, length)
      const letter = [...LETTERS].find((one) => one !== right.at(-1)) ?? ''
      const wrong = `${right.slice(0, -1)}${letter}`
      expect({ length, answer: await way(right) }).toEqual({ length, answer: await way(wrong) })
    }
    const [right, wrong] = [await way(ADDRESS), await way(ADDRESS.replace('maria', 'merle'))]
    expect(right).toEqual(wrong)
  })
})
