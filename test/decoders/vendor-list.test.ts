import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decoders } from '../../src/decoders/index.ts'
import { readBody } from '../../src/decoders/request-body.ts'
import { onOwnHost } from './first-party-requests.ts'
import {
  type Har,
  RECORDED,
  RECORDINGS,
  REWRITE_VENDORS,
  recordedPart,
  VENDORS_PATH,
  vendorsPart,
} from './vendor-list.ts'

describe('docs/api/vendors.md', () => {
  const [listed = '', recorded = ''] = readFileSync(VENDORS_PATH, 'utf8').split(RECORDED)

  test(`lists every vendor (to update: ${REWRITE_VENDORS})`, () => {
    expect(listed).toBe(`${vendorsPart()}\n`)
  })

  test.skipIf(!existsSync(RECORDINGS))(`lists what is recognised in recordings (to update: ${REWRITE_VENDORS})`, () => {
    expect(`${RECORDED}${recorded}`).toBe(recordedPart(RECORDINGS))
  })
})

describe.skipIf(!existsSync(RECORDINGS))("capture on the site's own hosts", () => {
  const files = existsSync(RECORDINGS)
    ? readdirSync(RECORDINGS).filter((name) => name.endsWith('.har'))
    : ['no recordings available']

  test.each(files)('includes exactly the requests that are recognised: %s', (file) => {
    const { entries }: Har['log'] = JSON.parse(readFileSync(join(RECORDINGS, file), 'utf8')).log
    const wrong = entries.flatMap(({ request }) => {
      const text = request.postData?.text
      const seen = onOwnHost(request.url, readBody(text === undefined ? {} : { body: text }).text ?? '')
      const isRight = seen.carries ? seen.isCaptured : seen.vendor !== null || !seen.isCaptured
      return isRight ? [] : [{ url: request.url, ...seen }]
    })
    expect(wrong).toEqual([])
  })
})

test('there are at least 90 vendors with unique names', () => {
  const names = decoders.map(({ vendor }) => vendor)
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
  expect(names.length).toBeGreaterThanOrEqual(90)
})
