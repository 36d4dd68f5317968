import { afterAll, beforeAll, describe, test } from 'bun:test'
import { installedChromium } from '../browser/installed-chromium.ts'
import { attackScreenshots } from '../flows/screenshot-attacks.ts'
import { type Attacked, attackByRequests, attackByRuns, openTwoSites, type TwoSites } from '../flows/secret-attacks.ts'
import { BINARY, call, initialize, type Server, startServer, temporaryFolder, until } from '../run-program.ts'

describe.skipIf(BINARY === null)('flow test secrets in the executable', () => {
  const data = temporaryFolder()
  let server: Server
  let key: string
  let sites: TwoSites
  let attacked: Attacked
  beforeAll(async () => {
    sites = openTwoSites()
    key = await initialize(data.path)
    const env = {
      TAGWARDEN_CHROMIUM: await installedChromium(),
      TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
      TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    }
    server = await startServer(data.path, { env })
    const ask: Attacked['call'] = (method, path, body) => call(method, server.url + path, { as: key, body })
    attacked = {
      call: ask,
      ended: (runId) =>
        until(`run ${runId} to end`, async () => {
          const { body } = await ask('GET', `/v1/flows/runs/${runId}`)
          return ['passed', 'failed'].includes(body.status) ? body : null
        }),
    }
  })
  afterAll(async () => {
    await server?.stop()
    sites?.[Symbol.dispose]()
    data[Symbol.dispose]()
  })

  test('must be entered again after the test is changed', () => attackByRequests(attacked, sites))
  test('are not sent to other hosts by a run', () => attackByRuns(attacked, sites))
  test('do not appear in screenshots, and neither does personal data', () =>
    attackScreenshots({
      call: (method, path, body, as = key) => call(method, server.url + path, { ...(as !== null && { as }), body }),
      async get(path, as = key) {
        const headers: Record<string, string> = as === null ? {} : { authorization: `Bearer ${as}` }
        const answer = await fetch(server.url + path, { headers })
        return { status: answer.status, bytes: await answer.bytes() }
      },
      ended: (runId) => attacked.ended(runId),
    }))
})
