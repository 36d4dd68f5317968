import { afterAll, beforeAll, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { type Attacked, attackByRequests, attackByRuns, openTwoSites, type TwoSites } from './secret-attacks.ts'

/* Secrets of a flow test are sent only to the hosts for which they were entered. */

let world: TestApp
let sites: TwoSites
let attacked: Attacked
beforeAll(async () => {
  sites = openTwoSites()
  world = await testApp({ chromium: await installedChromium(), outboundAllow: '127.0.0.1' })
  attacked = {
    call: (method, path, body) => world.call(method, path, body === undefined ? {} : { body }),
    async ended(runId) {
      await world.app.idle()
      world.clock.advance(MINUTE_MS)
      return (await world.call('GET', `/v1/flows/runs/${runId}`)).body
    },
  }
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  sites?.[Symbol.dispose]()
})

test('a change of the test that could leak its secrets requires entering the secrets again', () =>
  attackByRequests(attacked, sites))
test('a run sends the secrets to no other host', () => attackByRuns(attacked, sites))
