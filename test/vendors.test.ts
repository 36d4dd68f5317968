import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { decoders } from '../src/decoders/index.ts'
import { RECORDED, RECORDINGS, REWRITE_VENDORS, recordedPart, VENDORS_PATH, vendorsPart } from './vendors.ts'

describe('docs/vendors.md', () => {
  const [listed = '', recorded = ''] = readFileSync(VENDORS_PATH, 'utf8').split(RECORDED)

  test(`lists every vendor; else run ${REWRITE_VENDORS}`, () => {
    expect(listed).toBe(`${vendorsPart()}\n`)
  })

  test.skipIf(!existsSync(RECORDINGS))(`says what is recognised in recordings; else run ${REWRITE_VENDORS}`, () => {
    expect(`${RECORDED}${recorded}`).toBe(recordedPart(RECORDINGS))
  })
})

test('there are at least 90 vendors, each under a name of its own', () => {
  const names = decoders.map(({ vendor }) => vendor)
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
  expect(names.length).toBeGreaterThanOrEqual(90)
})
