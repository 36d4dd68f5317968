import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ALERT_KINDS } from '../../src/alerts/types/index.ts'
import { PERMISSIONS } from '../../src/http/permission.ts'
import type { JsonSchema } from '../../src/openapi/json-schema.ts'
import { type OpenApiDocument, type Operation, openApiDocument } from '../../src/openapi/openapi.ts'
import { goldenFiles, goldenPath, REWRITE } from '../golden.ts'
import { type TestApp, testApp } from '../test-app.ts'

/* Checks the OpenAPI document with independent implementations of OpenAPI 3.1 and JSON Schema 2020-12. */

/** Names that must exist among the document's schemas. */
const NAMES = [
  'Alert',
  'AlertInput',
  'AlertBulkInput',
  'AlertBulkResult',
  'AlertEnabledInput',
  'Channel',
  'Condition',
  'JourneySpec',
  'Issue',
  'IssueDetail',
  'IssueBulkInput',
  'IssuePatch',
  'Integration',
  'IntegrationInput',
  'Domain',
  'DomainInput',
  'DomainVendorConfig',
  'Error',
]

let world: TestApp
let api: OpenApiDocument
let operations: { at: string; path: string; operation: Operation }[]

beforeAll(async () => {
  world = await testApp()
  api = openApiDocument(world.app.routes)
  operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, path, operation })),
  )
})

afterAll(() => world[Symbol.asyncDispose]())

/**
 * Returns a validator for schemas in the document. The validator throws for keywords that are unknown or have no
 * effect.
 */
function judge() {
  const moved = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/components/schemas/', '"api#/$defs/'))
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true })
  ajv.addSchema({ $id: 'api', $defs: moved(api.components.schemas) })
  const checks = new Map<string, ValidateFunction>()
  return (schema: JsonSchema, value: unknown): string[] => {
    const text = JSON.stringify(schema)
    const check = checks.get(text) ?? ajv.compile(moved(schema))
    checks.set(text, check)
    check(value)
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

type Content = NonNullable<Operation['requestBody']>['content']
interface Place {
  at: string
  content: Content
}

const bodies = (): Place[] =>
  operations.flatMap(({ at, operation: { requestBody } }) =>
    requestBody ? [{ at: `${at} takes`, content: requestBody.content }] : [],
  )
const successes = (): Place[] =>
  operations.flatMap(({ at, operation }) =>
    Object.entries(operation.responses).flatMap(([status, answer]) =>
      status < '300' && 'content' in answer ? [{ at: `${at} answers`, content: answer.content }] : [],
    ),
  )

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(api) as unknown as Record<string, unknown>)
  expect(result.errors ?? []).toEqual([])
  expect([result.valid, validator.version]).toEqual([true, '3.1'])
})

test('operations that require a credential other than an API key declare that credential', () => {
  const others = operations.flatMap(({ at, operation: { security = [] } }) =>
    security.flatMap((one) => Object.keys(one).map((name) => `${at}: ${name}`)),
  )
  expect(others.sort()).toEqual([
    'get /v1/notifications/digest/unsubscribe: unsubscribeToken',
    'post /v1/integrations/issue_tracker/webhook: capabilityToken',
    'post /v1/integrations/office_chat/messages: connectorToken',
    'post /v1/notifications/digest/unsubscribe: unsubscribeToken',
  ])
})

test('the document passes a linter', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(api), config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('the validator rejects an invalid document', async () => {
  const broken = { ...structuredClone(api), paths: { '/a': { get: { responses: { ok: {} } } } } }
  expect((await new Validator().validate(broken)).valid).toBe(false)
})

describe('schemas', () => {
  test('have the required names', () => {
    expect(NAMES.filter((name) => !(name in api.components.schemas))).toEqual([])
  })

  test('are standard JSON Schema with valid examples and defaults', () => {
    const errorsOf = judge()
    const faults: string[] = []
    const walk = (at: string, schema: JsonSchema) => {
      const { examples = [], ...rest } = schema
      const values = [...(examples as unknown[]), ...('default' in rest ? [rest.default] : [])]
      for (const value of values) faults.push(...errorsOf(schema, value).map((error) => `${at}: ${error}`))
      for (const [word, inner] of Object.entries(rest)) {
        if (word === 'properties') {
          for (const [name, one] of Object.entries(inner as Record<string, JsonSchema>)) walk(`${at}.${name}`, one)
        } else if (word === 'anyOf') {
          for (const one of inner as JsonSchema[]) walk(at, one)
        } else if (word === 'items' || (word === 'additionalProperties' && typeof inner === 'object')) {
          walk(`${at}[]`, inner as JsonSchema)
        }
      }
    }
    for (const [name, schema] of Object.entries(api.components.schemas)) {
      errorsOf(schema, null)
      walk(name, schema)
    }
    expect(faults).toEqual([])
  })

  test('for alerts have a description and a valid example for every field', () => {
    const errorsOf = judge()
    const faults: string[] = []
    const seen = new Set<string>()
    const resolved = (schema: JsonSchema): JsonSchema => {
      const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
      return name === undefined ? schema : (api.components.schemas[name] ?? {})
    }
    const visit = (at: string, schema: JsonSchema) => {
      const { description, examples, anyOf = [], items, properties = {} } = resolved(schema)
      if (typeof description !== 'string' || description.trim() === '') faults.push(`${at}: no description`)
      if (!Array.isArray(examples) || examples.length === 0) faults.push(`${at}: no example`)
      else faults.push(...examples.flatMap((value) => errorsOf(schema, value)).map((error) => `${at}: ${error}`))
      if (typeof schema.$ref === 'string') {
        if (seen.has(schema.$ref)) return
        seen.add(schema.$ref)
      }
      const branches = (anyOf as JsonSchema[]).map((branch) => branch.properties ?? {})
      for (const fields of [properties, ...branches] as Record<string, JsonSchema>[]) {
        for (const [name, one] of Object.entries(fields)) visit(`${at}.${name}`, one)
      }
      if (items) visit(`${at}[]`, items as JsonSchema)
    }
    for (const name of ['AlertInput', 'Alert', 'Condition', 'Channel', 'JourneySpec']) {
      visit(name, { $ref: `#/components/schemas/${name}` })
    }
    expect(faults).toEqual([])
    expect(seen.size).toBeGreaterThanOrEqual(5)
  })

  test('for whole bodies and responses have names', () => {
    const anonymous = [...bodies(), ...successes()].filter(({ content }) =>
      Object.values(content).some(({ schema }) => !('$ref' in schema) && schema.type !== 'string'),
    )
    expect(anonymous.map(({ at }) => at)).toEqual([])
  })

  test('with names are used', () => {
    const text = JSON.stringify(api)
    const unused = Object.keys(api.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(unused).toEqual([])
  })
})

test('every body and every successful response has a valid example', () => {
  const errorsOf = judge()
  const refusals = Object.entries(api.components.responses).map(([at, { content = {} }]) => ({ at, content }))
  const faults = [...bodies(), ...successes(), ...refusals].flatMap(({ at, content }) =>
    Object.values(content).flatMap(({ schema, examples }) => {
      if (!examples) return [`${at}: no example; add \`examples\` to its schema`]
      return Object.values(examples).flatMap(({ value }) => errorsOf(schema, value).map((error) => `${at}: ${error}`))
    }),
  )
  expect(faults).toEqual([])
})

test('POST /v1/alerts has an example for each alert type', () => {
  const content = api.paths['/v1/alerts']?.post?.requestBody?.content['application/json']
  const types = Object.values(content?.examples ?? {}).map(({ value }) => (value as { alertType: string }).alertType)
  expect(types.sort()).toEqual([...ALERT_KINDS].sort())
})

describe('operations', () => {
  test('declare exactly the parameters of their path', () => {
    const faults = operations.filter(({ path, operation: { parameters = [] } }) => {
      const described = parameters.flatMap((one) =>
        'in' in one && one.in === 'path' && one.required ? [one.name] : [],
      )
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
      return named.sort().join() !== described.sort().join()
    })
    expect(faults.map(({ at }) => at)).toEqual([])
  })

  test('require a credential and name a permission, unless they are public', () => {
    for (const { at, operation } of operations) {
      const { 'x-permission': permission, security, responses } = operation
      expect([at, Object.keys(PERMISSIONS).includes(permission)]).toEqual([at, true])
      const isPublic = PERMISSIONS[permission].from === null
      // Routes with other credentials, such as a token in the query, must also declare them.
      expect([at, security !== undefined]).toEqual([at, isPublic])
      for (const name of (security ?? []).flatMap(Object.keys)) {
        expect(Object.keys(api.components.securitySchemes)).toContain(name)
      }
      const needed = isPublic ? ['400'] : ['400', '401', '403', '429', '503']
      expect([at, needed.filter((status) => !(status in responses))]).toEqual([at, []])
    }
  })

  test('have a tag with a description', () => {
    const explained = api.tags.filter(({ description }) => description).map(({ name }) => name)
    const used = new Set(operations.flatMap(({ operation }) => operation.tags))
    expect([...used].filter((tag) => !explained.includes(tag))).toEqual([])
  })

  test('have IDs in camel case that begin with a verb', () => {
    for (const { operation } of operations) expect(operation.operationId).toMatch(/^[a-z]+(?:[A-Z][a-z]+)*$/)
  })

  test('cover every path of the server', () => {
    const routes = world.app.routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`)
    expect(operations.map(({ at }) => at).sort()).toEqual(routes.sort())
  })
})

test('the server serves the document without a credential', async () => {
  const answer = await world.call('GET', '/openapi.json', { as: null })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual(JSON.parse(JSON.stringify(api)))
})

test.each(['openapi.json', 'api/roles.md', 'operate/settings.md', 'operate/metrics.md', 'use/alerts.md'])(
  'docs/%s is up to date',
  async (name) => {
    const metrics = (await world.call('GET', '/metrics', { as: null })).body
    const said = goldenFiles(world.app.routes, metrics)[name]
    const kept = await Bun.file(goldenPath(name))
      .text()
      .catch(() => '')
    if (kept !== said) throw new Error(`docs/${name} is out of date: run ${REWRITE} and review the changes`)
  },
)
