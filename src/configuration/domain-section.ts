import { Closed, Nullable, OneOf, Text, Type } from '../core/schema.ts'
import { CaptureSettingsInputSchema } from '../domains/capture-settings.ts'
import { DomainInputSchema, ROUTING_MODES } from '../domains/domain.ts'
import { SamplingInputSchema } from '../domains/page-view-sampling-routes.ts'
import { type CallApi, listAll } from './api-client.ts'
import type { Section, StoredItem } from './section.ts'
import { type Fields, isFields } from './shape.ts'

const PATH = '/v1/domains'
const { screenshotBase64: _, ...ownFields } = DomainInputSchema.properties

/** A domain, including the settings that are changed by separate routes. */
const DomainFileSchema = Closed({
  ...ownFields,
  endpoint: Type.Optional(
    Closed(
      {
        mode: OneOf(ROUTING_MODES),
        hostname: Type.Optional(Nullable(Text(1, 255, { description: 'Only for the mode `custom`' }))),
      },
      { description: 'Host that serves the script and receives the events' },
    ),
  ),
  capture: Type.Optional(CaptureSettingsInputSchema),
  pageViewSampling: Type.Optional(SamplingInputSchema),
})

const SETTINGS = ['endpoint', 'capture', 'pageViewSampling'] as const

export const domains: Section = {
  name: 'domains',
  noun: 'domain',
  shape: {},
  input: DomainFileSchema,
  defaults: {
    system: 'global',
    monitoredUrls: [],
    vendors: [],
    allowManualMonitoring: false,
    endpoint: { mode: 'default', hostname: null },
    capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' },
    pageViewSampling: { devRate: 1, prodRate: 1 },
  },
  async list(call) {
    const stored: StoredItem[] = []
    for (const { id } of await listAll(call, PATH, 'domains')) stored.push(await read(call, String(id)))
    return stored
  },
  async create(call, fields) {
    const { id } = await call('POST', PATH, ownOf(fields))
    await saveSettings(call, String(id), fields, domains.defaults)
    return String(id)
  },
  async update(call, id, fields) {
    const { screenshotBase64 } = await call('GET', `${PATH}/${id}`)
    const screenshot = screenshotBase64 === null ? {} : { screenshotBase64 }
    const { fields: present } = await read(call, id)
    await call('PUT', `${PATH}/${id}`, { ...ownOf(fields), ...screenshot })
    await saveSettings(call, id, fields, present)
  },
  async remove(call, id) {
    await call('DELETE', `${PATH}/${id}`)
  },
}

async function read(call: CallApi, id: string): Promise<StoredItem> {
  const domain = await call('GET', `${PATH}/${id}`)
  const { mode } = domain.routing as Fields
  const hostname = mode === 'custom' && isFields(domain.collect) ? domain.collect.hostname : null
  const capture = await call('GET', `${PATH}/${id}/capture`)
  const own = Object.fromEntries(Object.keys(ownFields).map((name) => [name, domain[name]]))
  const fields = { ...own, endpoint: { mode, hostname }, capture, pageViewSampling: domain.pageViewSampling }
  return { id, name: String(domain.name), fields }
}

const ownOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(ownFields, name)))

/** Saves the settings that differ from the present ones. Absent settings get their default. */
async function saveSettings(call: CallApi, id: string, fields: Fields, present: Fields): Promise<void> {
  for (const name of SETTINGS) {
    const normal = domains.defaults[name] as Fields
    const wanted: Fields = { ...normal, ...(fields[name] as Fields | undefined) }
    if (name === 'capture') wanted.sampleRate = { ...(normal.sampleRate as Fields), ...(wanted.sampleRate as Fields) }
    if (Bun.deepEquals(wanted, present[name])) continue
    const { hostname, ...others } = wanted
    const path = name === 'pageViewSampling' ? 'page-view-sampling' : name
    await call('PUT', `${PATH}/${id}/${path}`, name === 'endpoint' && hostname !== null ? wanted : others)
  }
}
