import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseRecording } from '../../src/flows/recorder-export.ts'
import { titleOf } from '../../src/flows/step-title.ts'
import { browse } from '../browser/browse.ts'
import { openShop } from './shop.ts'
import { walkInFixture } from './walk-fixture.ts'

/**
 * An export of the Recorder panel in Chrome DevTools, recorded with this shop and an additional frame. Only the shop's
 * port was changed. Headless Chromium has no panel, so the panel was served from `@react-native/debugger-frontend`
 * 0.88.1, connected to Chromium 153 by `?ws=`, and operated with real mouse and key events. The package is not a
 * dependency.
 */
const EXPORT = readFileSync(join(import.meta.dir, 'recorder-export.json'), 'utf8')

test('a recording made with Chrome DevTools Recorder runs unchanged', async () => {
  using shop = openShop('advert', async () => undefined)
  const recording = parseRecording(JSON.parse(EXPORT.replaceAll(':8080', `:${new URL(shop.origin).port}`)), 'recording')
  await using browsing = await browse({ outboundAllow: ['127.0.0.1', '127.0.0.2'] })
  const { statuses, events, error } = await walkInFixture(browsing, [], { recording })
  expect({ error, statuses }).toEqual({ error: null, statuses: recording.steps.map(() => 'passed') })
  const GA4 = events.filter(({ vendor }) => vendor === 'Google Analytics 4')
  const named = (step: number) => titleOf(recording.steps[step] ?? { type: '' }).replace(shop.origin, '')
  expect(GA4.map(({ step, event, path }) => [named(step), event, path])).toEqual([
    ['Open /', 'page_view', '/'],
    ['Click “Red shoes”', 'view_item', '/product'],
    ['Click “Add to basket”', 'add_to_cart', '/product/added'],
    ['Release Enter', 'login', '/login'],
    ['Open /pay', 'begin_checkout', '/pay'],
    ['Click “Pay now”', 'purchase', '/thanks'],
    ['Open /', 'page_view', '/'],
    ['Click “Sale”', 'view_item', '/product'],
    ['Click “Add to basket”', 'add_to_cart', '/product/added'],
  ])
})
