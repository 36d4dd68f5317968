import { expect, test } from 'bun:test'
import { captureConfigOf } from './capture-config.ts'
import { OWN_NAMES, withShortNames } from './own-names.ts'
import { scriptBundle } from './script-bundle.ts'

test('become letters, in properties and variables; texts and longer names stay', () => {
  expect(withShortNames("const { guard } = parts; parts.guard.run(guards, 'guard', 'a-guard')")).toBe(
    "const { A } = parts; parts.A.D(guards, 'guard', 'a-guard')",
  )
})

test('are not in the bundle, and none is given twice or is a field of the configuration', async () => {
  const { script } = await scriptBundle()
  expect(withShortNames(script)).toBe(script)
  expect(new Set(OWN_NAMES).size).toBe(OWN_NAMES.length)
  const capture = { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' } as const
  const config = captureConfigOf({ vendors: [], capture } as never, { token: 'pt_1', collectUrl: 'https://a.example' })
  expect(OWN_NAMES.filter((name) => name in config)).toEqual([])
})
