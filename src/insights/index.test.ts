import { describe, expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { insights } from './index.ts'

test('no two insights share an id or a path', () => {
  expect(new Set(insights.map(({ id }) => id)).size).toBe(insights.length)
  expect(new Set(insights.map(({ path }) => path)).size).toBe(insights.length)
})

describe.each(insights.map((insight) => [insight.id, insight] as const))(
  'insight %s',
  (id, { path, summary, params, input, output }) => {
    test('has a name that is valid in routes and tool names', () => {
      expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
      expect(path).toMatch(/^(\/([a-z-]+|\{[a-z]+\}))+$/i)
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
      for (const schema of [params, input, output]) expect(schema?.additionalProperties ?? false).toBe(false)
    })

    test('has its own route, described by its schemas', async () => {
      await using world = await testApp()
      const { body } = await world.call('GET', '/openapi.json', { as: null })
      const { get } = body.paths[`/v1${path}`]
      expect(get.summary).toBe(summary)
      expect((get.parameters ?? []).map(({ name }: { name: string }) => name)).toEqual([
        ...Object.keys(params?.properties ?? {}),
        ...Object.keys(input?.properties ?? {}),
      ])
      expect((await world.call('GET', `/v1${path}`, { as: null })).status).toBe(401)
      expect((await world.call('GET', `/v1${path}?surprise=1`)).status).toBe(400)
    })
  },
)
