import { EscalationSchema } from '../alerts/alert.ts'
import { readAlertInput } from '../alerts/alert-input.ts'
import { AlertInputSchema } from '../alerts/alert-schema.ts'
import { CalendarInputSchema } from '../calendars/calendar.ts'
import { CONNECTORS } from '../connectors.ts'
import { systemClock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { TObject } from '../core/schema.ts'
import { ProjectInputSchema } from '../domains/project.ts'
import { type FlowTestInput, FlowTestInputSchema } from '../flows/flow-test.ts'
import { FLOW_TEST_DEFAULTS, readFlowTest } from '../flows/read-flow-test-input.ts'
import { IntegrationInputSchema } from '../integrations/integration.ts'
import { OwnershipSchema } from '../issues/ownership-rule.ts'
import { keyOfLabel, LabelInputSchema } from '../labels/label.ts'
import { MaintenanceInputSchema } from '../maintenance/maintenance.ts'
import { CAPTURE_RULE_DEFAULTS, CaptureRulesInputSchema } from '../order-capture/capture-rule.ts'
import { type CallApi, listAll } from './api-client.ts'
import { domains } from './domain-section.ts'
import type { Section, StoredItem } from './section.ts'
import { CHANNELS, type Fields, isFields, type Shape } from './shape.ts'

/** Returns the fields that the input schema has. */
const inputOf = ({ properties }: TObject, item: Fields): Fields =>
  Object.fromEntries(Object.keys(properties).flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])))

/** How the items of a list in the API are read and written. */
function collection(
  path: string,
  {
    list,
    input,
    name = 'name',
    change = 'PUT',
  }: { list: string; input: TObject; name?: string; change?: 'PUT' | 'PATCH' },
): Pick<Section, 'list' | 'create' | 'update' | 'remove' | 'input'> {
  return {
    input,
    list: async (call) =>
      (await listAll(call, path, list)).map((item) => ({
        id: String(item.id),
        name: String(item[name]),
        fields: inputOf(input, item),
      })),
    create: async (call, fields) => String((await call('POST', path, fields)).id),
    async update(call, id, fields) {
      await call(change, `${path}/${id}`, fields)
    },
    async remove(call, id) {
      await call('DELETE', `${path}/${id}`)
    },
  }
}

const DOMAIN = { ref: 'domains', as: 'domain' } as const
const DOMAINS = { ref: 'domains', as: 'domains', isList: true } as const
const PROJECT = { ref: 'projects', as: 'project' } as const
const STEPS: Shape = { steps: { list: { channels: CHANNELS } } }

const projects: Section = {
  ...collection('/v1/projects', { list: 'projects', input: ProjectInputSchema, change: 'PATCH' }),
  name: 'projects',
  noun: 'project',
  shape: { domainIds: DOMAINS },
  defaults: { domains: [] },
  normalise: ({ domains, ...rest }) => ({
    ...rest,
    ...(Array.isArray(domains) ? { domains: domains.toSorted() } : {}),
  }),
}

const LABELS = '/v1/insights/labels'

const labels: Section = {
  ...collection(LABELS, { list: 'labels', input: LabelInputSchema, name: 'label' }),
  name: 'labels',
  noun: 'label',
  shape: {},
  defaults: { kind: 'step' },
  keeps: ['color'],
  normalise({ color, members, ...rest }) {
    const order = ({ vendor, event }: Fields) => `${vendor}\n${event}`
    const unique = Array.isArray(members) ? new Map(members.filter(isFields).map((one) => [order(one), one])) : null
    return {
      ...rest,
      ...(typeof color === 'string' ? { color: color.toLowerCase() } : {}),
      ...(unique ? { members: [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one) } : {}),
    }
  },
  async create(call, fields) {
    await call('POST', `${LABELS}/assign`, fields)
    const key = keyOfLabel(String(fields.label))
    const named = (await listAll(call, LABELS, 'labels')).find(({ label }) => keyOfLabel(String(label)) === key)
    return String(named?.id)
  },
}

const calendars: Section = {
  ...collection('/v1/calendars', { list: 'calendars', input: CalendarInputSchema }),
  name: 'calendars',
  noun: 'calendar',
  shape: {},
  defaults: { country: null, ics: null },
  normalise: ({ country, ics, ...rest }) => ({
    ...rest,
    ...(country === undefined ? {} : { country: typeof country === 'string' ? country.toUpperCase() : country }),
    // YAML shows lines only if they end in a line feed alone.
    ...(ics === undefined ? {} : { ics: typeof ics === 'string' ? ics.replaceAll('\r\n', '\n') : ics }),
  }),
  async list(call) {
    const listed = await listAll(call, '/v1/calendars', 'calendars')
    const details = await inTurn(listed, ({ id }) => call('GET', `/v1/calendars/${id}`))
    return details.map((item) => ({
      id: String(item.id),
      name: String(item.name),
      fields: inputOf(CalendarInputSchema, item),
    }))
  },
}

const maintenance: Section = {
  ...collection('/v1/maintenance', { list: 'maintenance', input: MaintenanceInputSchema }),
  name: 'maintenance',
  noun: 'maintenance window',
  shape: { domainIds: DOMAINS, projectId: PROJECT, from: { instant: true }, to: { instant: true } },
  defaults: { domains: null, project: null, vendors: null, rrule: null },
  normalise: (fields) => ({ ...fields, ...sameInstant(fields, 'from'), ...sameInstant(fields, 'to') }),
}

function sameInstant(fields: Fields, name: string): Fields {
  const instant = typeof fields[name] === 'string' ? Date.parse(fields[name]) : Number.NaN
  return Number.isNaN(instant) ? {} : { [name]: new Date(instant).toISOString().replace('.000Z', 'Z') }
}

const alerts: Section = {
  ...collection('/v1/alerts', { list: 'alerts', input: AlertInputSchema }),
  name: 'alerts',
  noun: 'alert',
  shape: { domainId: DOMAIN, domainIds: DOMAINS, channels: CHANNELS, escalation: { object: STEPS } },
  defaults: { severity: 'low', timezone: 'UTC', enabled: true, vendors: [], domains: [] },
  check: (fields) => void readAlertInput(fields),
}

const FLOW_TESTS = '/v1/flows/tests'
// In a file, `domain` takes the place of `domainId`.
const { domainId: _domainId, ...flowTestDefaults } = FLOW_TEST_DEFAULTS

const flowTests: Section = {
  ...collection(FLOW_TESTS, { list: 'tests', input: FlowTestInputSchema }),
  name: 'flowTests',
  noun: 'flow test',
  shape: { domainId: DOMAIN, channels: CHANNELS },
  defaults: { domain: null, ...flowTestDefaults },
  secrets: { field: 'secrets', comparePath: (id) => `${FLOW_TESTS}/${id}/secrets/compare` },
  check: (fields) => void readFlowTest(fields as unknown as FlowTestInput, systemClock.now()),
  async list(call) {
    const tests = await listAll(call, FLOW_TESTS, 'tests')
    return tests.map(({ id, name, secrets, ...rest }) => ({
      id: String(id),
      name: String(name),
      fields: { name, ...inputOf(FlowTestInputSchema, rest) },
      secrets: secrets as string[],
    }))
  },
}

const INTEGRATIONS = '/v1/integrations'
/** Settings that the server fills in. */
const CONFIG_DEFAULTS: Record<string, Fields> = {
  webhook: { format: 'standard' },
  issue_tracker: { issueType: 'Task', pollSeconds: 300 },
  email_digest: { context: '' },
}

const integrations: Section = {
  ...collection(INTEGRATIONS, { list: 'integrations', input: IntegrationInputSchema }),
  name: 'integrations',
  noun: 'integration',
  shape: {},
  defaults: { label: 'default' },
  secrets: { field: 'config', comparePath: (id) => `${INTEGRATIONS}/${id}/secrets/compare` },
  // The URL of a receiver is often as sensitive as a password.
  isSensitive: ({ provider }, field) => provider === 'webhook' && field === 'url',
  normalise({ config, ...rest }) {
    if (!isFields(config)) return { ...rest, config }
    const { secrets, configuration } = CONNECTORS.find(({ type }) => type === rest.provider) ?? {}
    const own = Object.entries(config).map(([name, value]) => {
      const isObject =
        secrets?.fields.some((secret) => secret === name) && configuration?.schema.properties[name]?.type === 'object'
      return [name, isObject && typeof value === 'string' ? parseObject(value, `config.${name}`) : value]
    })
    return { ...rest, config: { ...CONFIG_DEFAULTS[String(rest.provider)], ...Object.fromEntries(own) } }
  },
  async list(call) {
    const listed = await listAll(call, INTEGRATIONS, 'integrations')
    const details = await inTurn(listed, ({ id }) => call('GET', `${INTEGRATIONS}/${id}`))
    return details.map(({ id, provider, label, config, secrets }): StoredItem => {
      if (!isFields(config)) throw new AppError('forbidden', 'the settings of integrations require the admin role')
      return {
        id: String(id),
        name: String(label === 'default' ? provider : label),
        fields: { provider, label, config },
        secrets: secrets as string[],
      }
    })
  },
}

/** Parses a secret that consists of fields, such as the key file of a service account. */
function parseObject(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('invalid', `${field}: must be JSON`)
  }
}

/** A section that is one object of the organization. `list` is its only field. */
function single(
  name: 'ownership' | 'escalation',
  { noun, list, shape, input }: { noun: string; list: string; shape: Shape; input: TObject },
): Section {
  const path = `/v1/org/${name}`
  const replace = async (call: CallApi, fields: Fields) => void (await call('PUT', path, fields))
  return {
    name,
    noun,
    isSingle: true,
    shape,
    input,
    defaults: {},
    async list(call) {
      const fields = inputOf(input, await call('GET', path))
      return (fields[list] as unknown[]).length === 0 ? [] : [{ id: name, name, fields }]
    },
    async create(call, fields) {
      await replace(call, fields)
      return name
    },
    update: (call, _id, fields) => replace(call, fields),
    remove: (call) => replace(call, { [list]: [] }),
  }
}

const ownership: Section = {
  ...single('ownership', {
    noun: 'ownership rules',
    list: 'rules',
    input: OwnershipSchema,
    shape: {
      rules: {
        list: {
          match: { object: { domainId: DOMAIN, projectId: PROJECT, labelId: { ref: 'labels', as: 'label' } } },
          assigneeId: { ref: 'members', as: 'assignee' },
          channels: CHANNELS,
        },
      },
    },
  }),
  normalise({ rules, ...rest }) {
    const normal = ({ assignee = null, channels = [], ...rule }: Fields) => ({
      ...rule,
      ...(assignee === null ? {} : { assignee }),
      ...(Array.isArray(channels) && channels.length === 0 ? {} : { channels }),
    })
    return {
      ...rest,
      rules: Array.isArray(rules) ? rules.map((rule) => (isFields(rule) ? normal(rule) : rule)) : rules,
    }
  },
}

const escalation = single('escalation', {
  noun: 'escalation',
  list: 'steps',
  input: EscalationSchema,
  shape: STEPS,
})

const CAPTURE = '/v1/orders/capture'
const captureRules = async (call: CallApi) => (await call('GET', CAPTURE)).rules as Fields[]
const CaptureRuleSchema = CaptureRulesInputSchema.properties.rules.items
const { id: _id, ...captureFields } = CaptureRuleSchema.properties
const CAPTURE_INPUT = { ...CaptureRuleSchema, properties: captureFields } as unknown as TObject

const orderCapture: Section = {
  name: 'orderCapture',
  noun: 'order capture rule',
  shape: { domainId: DOMAIN, channels: CHANNELS },
  input: CAPTURE_INPUT,
  defaults: CAPTURE_RULE_DEFAULTS,
  async list(call) {
    const [rules, known] = [await captureRules(call), await listAll(call, '/v1/domains', 'domains')]
    const names = new Map(known.map(({ id, name }) => [id, name]))
    return rules.map((rule) => ({
      id: String(rule.id),
      name: `${names.get(rule.domainId)} ${rule.vendor}`,
      fields: inputOf(CAPTURE_INPUT, rule),
    }))
  },
  async create(call, fields) {
    const { rules } = await call('PUT', CAPTURE, { rules: [...(await captureRules(call)), fields] })
    const isNew = ({ domainId, vendor }: Fields) => domainId === fields.domainId && vendor === fields.vendor
    return String((rules as Fields[]).find(isNew)?.id)
  },
  async update(call, id, fields) {
    const rules = (await captureRules(call)).map((rule) => (rule.id === id ? { ...fields, id } : rule))
    await call('PUT', CAPTURE, { rules })
  },
  async remove(call, id) {
    await call('PUT', CAPTURE, { rules: (await captureRules(call)).filter((rule) => rule.id !== id) })
  },
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (const item of items) done.push(await work(item))
  return done
}

/** All sections, in the order in which their items are created. Items refer only to items of earlier sections. */
export const SECTIONS: readonly Section[] = [
  domains,
  projects,
  integrations,
  labels,
  calendars,
  maintenance,
  alerts,
  flowTests,
  ownership,
  escalation,
  orderCapture,
]

const BY_NAME = new Map<string, Section>(SECTIONS.map((section) => [section.name, section]))

/** Returns the section; null for an unknown name. */
export const sectionOf = (name: string): Section | null => BY_NAME.get(name) ?? null
