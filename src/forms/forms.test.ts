import { expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readAlertInput } from '../alerts/alert-input.ts'
import { alertTypes } from '../alerts/types/index.ts'
import { CONNECTORS } from '../connectors.ts'
import { Closed, Int, OneOf, Text, Type } from '../core/schema.ts'
import { STEP_TYPES } from '../flows/recording-steps.ts'
import { insights } from '../insights/index.ts'
import { desk, deskConnector } from '../integrations/providers/desk/desk.fixture.ts'
import { CHANNELS } from '../integrations/providers/index.ts'
import { formOf, type JsonSchema } from '../openapi/json-schema.ts'
import { formsOfAll } from './forms.ts'

const forms = formsOfAll(CHANNELS, CONNECTORS, insights)
const all = Object.entries(forms).flatMap(([group, some]) =>
  some.map((form) => [`${group}: ${form.kind}`, form] as const),
)

function judge() {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true })
  for (const word of ['x-order', 'x-unit', 'x-secret', 'x-titles', 'x-integration']) ajv.addKeyword(word)
  return ajv
}

/** Returns the fields of a schema at every depth. */
function fieldsOf(schema: JsonSchema, at = ''): [string, JsonSchema][] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, JsonSchema>
    items?: JsonSchema
    anyOf?: JsonSchema[]
  }
  return [
    ...Object.entries(properties).flatMap(([name, field]): [string, JsonSchema][] => [
      [`${at}.${name}`, field],
      ...fieldsOf(field, `${at}.${name}`),
    ]),
    ...(items ? fieldsOf(items, `${at}[]`) : []),
    ...anyOf.flatMap((one) => fieldsOf(one, at)),
  ]
}

test('everything that can be added has a form', () => {
  const kinds = Object.fromEntries(Object.entries(forms).map(([group, some]) => [group, some.map(({ kind }) => kind)]))
  expect(kinds.channels).toEqual(CHANNELS.map(({ type }) => type))
  expect(kinds.integrations).toEqual(CONNECTORS.map(({ type }) => type))
  expect(kinds.alertTypes).toEqual(alertTypes.map(({ kind }) => kind))
  expect(kinds.insights).toEqual(insights.map(({ id }) => id))
  expect(kinds.flowSteps).toEqual(STEP_TYPES)
})

test.each(all)('%s is JSON Schema 2020-12, with a title and a position for every field', (_name, { title, schema }) => {
  expect(title).not.toBe('')
  const ajv = judge()
  expect(() => ajv.compile(structuredClone(schema))).not.toThrow()
  expect(JSON.stringify(schema)).not.toContain('$ref"')
  const fields = fieldsOf(schema)
  expect(fields.filter(([, field]) => typeof field.title !== 'string' || field.title === '')).toEqual([])
  const places = Object.values(schema.properties as Record<string, JsonSchema>).map((field) => field['x-order'])
  expect(places).toEqual(places.map((_, index) => index + 1))
})

test.each([...forms.channels, ...forms.integrations].map((form) => [form.kind, form] as const))(
  '%s has help for the form and for every field',
  (_kind, { help, schema }) => {
    expect(help).toEndWith('.')
    const own = Object.entries(schema.properties as Record<string, JsonSchema>)
    expect(own.filter(([, { description }]) => typeof description !== 'string').map(([name]) => name)).toEqual([])
  },
)

test('exactly the fields that are stored encrypted are secret in the form', () => {
  for (const { type, secrets: sealed } of CONNECTORS) {
    const form = forms.integrations.find(({ kind }) => kind === type)
    const secrets = Object.entries(form?.schema.properties as Record<string, JsonSchema>).filter(
      ([, f]) => f['x-secret'],
    )
    expect([type, secrets.map(([name]) => name).sort()]).toEqual([type, sealed.fields.toSorted()])
  }
})

test('the target can be an integration for every channel type that has integrations', () => {
  const named = forms.channels.map(({ kind, schema }) => {
    const { target } = schema.properties as Record<string, JsonSchema>
    return [kind, target?.['x-integration']]
  })
  expect(Object.fromEntries(named)).toEqual({
    email: undefined,
    team_chat: 'team_chat',
    office_chat: 'office_chat',
    webhook: 'webhook',
    issue_tracker: 'issue_tracker',
  })
})

test.each(alertTypes.map(({ kind, form }) => [kind, form] as const))(
  'the defaults of the form for %s are a valid alert',
  (kind, { configuration, example }) => {
    const form = forms.alertTypes.find((one) => one.kind === kind)
    const field = configuration?.field
    const own = field === undefined ? {} : { [field]: (example as Record<string, unknown>)[field] }
    const check = judge().compile(structuredClone(form?.schema ?? {}))
    expect([check(own), check.errors]).toEqual([true, null])
    expect(check({ ...own, surprise: 1 })).toBe(false)
    expect(readAlertInput({ ...example, ...own })).toMatchObject(own)
  },
)

test('a new provider gets its forms automatically', () => {
  const { channels, integrations } = formsOfAll([desk], [deskConnector], [])
  expect(channels).toMatchObject([
    { kind: 'issue_tracker', title: 'Desk', schema: { properties: { target: { 'x-integration': 'issue_tracker' } } } },
  ])
  const [form] = integrations
  expect(form).toMatchObject({ kind: 'issue_tracker', title: 'Desk', help: 'Creates tickets.' })
  const fields = form?.schema.properties as Record<string, JsonSchema>
  expect(Object.entries(fields).map(([name, { title }]) => [name, title])).toEqual([
    ['url', 'Url'],
    ['clientId', 'Client id'],
    ['clientSecret', 'Client secret'],
    ['signingSecret', 'Signing secret'],
    ['pollSeconds', 'Poll seconds'],
    ['notify', 'Notify on'],
  ])
})

test.each([
  ['fromHour', 'From hour', undefined],
  ['hours', 'Hours', 'h'],
  ['watchDays', 'Watch days', 'd'],
  ['pollSeconds', 'Poll seconds', 's'],
  ['windowMinutes', 'Window minutes', 'min'],
  ['durationMs', 'Duration ms', 'ms'],
  ['openPct', 'Open pct', '%'],
  ['domainId', 'Domain', undefined],
  ['q', 'Search', undefined],
])('the field %s has the title %s and the unit %p', (name, title, unit) => {
  const { properties } = formOf(Closed({ [name]: Int() })) as { properties: Record<string, JsonSchema> }
  expect([properties[name]?.title, properties[name]?.['x-unit']]).toEqual([title, unit])
})

test('titles, units and positions appear only in forms, at every depth', () => {
  const schema = Closed({
    fromHour: Int({ minimum: 0, 'x-unit': 'h', description: 'From then on' }),
    parts: Type.Optional(
      Type.Array(
        Closed({ name: Text(1, 9, { title: 'Its name' }), kind: OneOf(['a', 'b'], { 'x-titles': { a: 'First' } }) }),
      ),
    ),
  })
  expect(formOf(schema, ['fromHour'])).toEqual({
    type: 'object',
    additionalProperties: false,
    required: ['fromHour'],
    properties: {
      fromHour: {
        type: 'integer',
        minimum: 0,
        description: 'From then on',
        title: 'From hour',
        'x-unit': 'h',
        'x-order': 1,
        'x-secret': true,
      },
      parts: {
        type: 'array',
        title: 'Parts',
        'x-order': 2,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name', 'kind'],
          properties: {
            name: { type: 'string', minLength: 1, maxLength: 9, title: 'Its name', 'x-order': 1 },
            kind: { type: 'string', enum: ['a', 'b'], title: 'Kind', 'x-titles': { a: 'First' }, 'x-order': 2 },
          },
        },
      },
    },
  })
})
