import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { YAML } from 'bun'
import { describeConfig } from '../../src/config.ts'
import { PROVIDER_SETTINGS } from '../../src/connectors.ts'
import { testApp } from '../test-app.ts'

const OPS = join(import.meta.dir, '../../ops')
const read = (name: string) => readFileSync(join(OPS, name), 'utf8')

/** A metric in a query, with the labels by which it is selected. */
interface Used {
  name: string
  labels: string[]
}

/** Returns the metrics in a PromQL query. Throws if the query is not valid. */
function metricsIn(query: string): Used[] {
  const used: Used[] = []
  const tree = parser.parse(query)
  tree.iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`invalid PromQL at ${node.from}: ${query}`)
      if (node.name !== 'VectorSelector') return
      const text = query.slice(node.from, node.to)
      const labels = [...text.matchAll(/[{,]\s*(\w+)\s*[!=]/g)].map(([, label = '']) => label)
      used.push({ name: text.split('{')[0]?.trim() ?? '', labels })
    },
  })
  return used
}

test('the reader of queries rejects invalid ones', () => {
  expect(metricsIn('rate(a_total{b="c",d=~"e"}[5m]) / b')).toEqual([
    { name: 'a_total', labels: ['b', 'd'] },
    { name: 'b', labels: [] },
  ])
  for (const query of ['rate(a_total[5m]', 'a ==', 'sum by (', '{']) expect(() => metricsIn(query)).toThrow('PromQL')
})

/** Labels that Prometheus adds to every metric. */
const TARGET_LABELS = ['job', 'instance', 'le']

/** Returns the names that the server's metrics have in queries, with their types. */
async function servedMetrics(): Promise<Map<string, string>> {
  await using world = await testApp()
  const text = (await world.call('GET', '/metrics', { as: null })).body as string
  const names = new Map<string, string>()
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    if (type === 'histogram') for (const end of ['bucket', 'sum', 'count']) names.set(`${name}_${end}`, type)
    else names.set(name, type)
  }
  return names
}

const served = await servedMetrics()

function expectServed(query: string): void {
  for (const { name, labels } of metricsIn(query)) {
    if (name === 'up') continue
    expect([query, name, served.has(name)]).toEqual([query, name, true])
    const own = labels.filter((label) => !TARGET_LABELS.includes(label))
    for (const label of own) expect(['status', 'check', 'kind', 'group', 'task', 'reason']).toContain(label)
  }
}

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}

describe('ops/alerts.yml', () => {
  const { groups } = YAML.parse(read('alerts.yml')) as { groups: { name: string; rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  test('has complete rules with unique names', () => {
    expect(rules.length).toBeGreaterThan(10)
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const rule of rules) {
      expect(rule.alert).toMatch(/^Tagwarden[A-Z]\w+$/)
      expect(['critical', 'warning']).toContain(rule.labels.severity)
      if (rule.for !== undefined) expect(rule.for).toMatch(/^\d+[smhd]$/)
      expect(Object.keys(rule.annotations).sort()).toEqual(['description', 'summary'])
      expect(
        Object.keys(rule).filter((key) => !['alert', 'expr', 'for', 'labels', 'annotations'].includes(key)),
      ).toEqual([])
    }
  })

  test('queries only metrics that the server has', () => {
    for (const { expr } of rules) expectServed(expr)
  })

  test.skipIf(Bun.which('promtool') === null)('passes promtool', () => {
    const { exitCode, stderr } = Bun.spawnSync(['promtool', 'check', 'rules', join(OPS, 'alerts.yml')])
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
  })
})

test.skipIf(Bun.which('promtool') === null)('the metrics pass promtool', async () => {
  await using world = await testApp()
  await world.run('flush', 'evaluate')
  const { body } = await world.call('GET', '/metrics', { as: null })
  const { stdout, stderr } = Bun.spawnSync(['promtool', 'check', 'metrics'], { stdin: Buffer.from(body as string) })
  expect(`${stdout}${stderr}`).toBe('')
})

describe('ops/grafana-dashboard.json', () => {
  interface Panel {
    id: number
    type: string
    title: string
    gridPos: { x: number; y: number; w: number; h: number }
    targets?: { expr: string; refId: string }[]
  }
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
    uid: string
    panels: Panel[]
    templating: { list: { name: string; query: unknown }[] }
  }
  const charts = dashboard.panels.filter(({ type }) => type !== 'row')

  test('queries only metrics that the server has', () => {
    for (const { targets = [] } of charts) {
      expect(targets.length).toBeGreaterThan(0)
      for (const { expr } of targets) expectServed(expr.replaceAll('$', ''))
    }
  })

  test('shows every metric except those that others contain', () => {
    const shown = new Set(
      charts
        .flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr.replaceAll('$', ''))))
        .map(({ name }) => name),
    )
    const hidden = [...served].filter(([name, type]) => type !== 'histogram' && !shown.has(name)).map(([name]) => name)
    expect(hidden.sort()).toEqual([
      'tagwarden_browser_tasks_running',
      'tagwarden_collect_gap_seconds',
      'tagwarden_collect_gaps',
      'tagwarden_collector_refusing',
      'tagwarden_damaged_files',
      'tagwarden_event_bytes',
      'tagwarden_event_files',
      'tagwarden_failing_merges',
      'tagwarden_items_rejected_total',
      'tagwarden_last_delivery_age_seconds',
      'tagwarden_pipeline_suspected',
      'tagwarden_queries_running',
      'tagwarden_questions_running',
      'tagwarden_sender_clock_offset_seconds',
    ])
  })

  test('has unique panels that do not overlap', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const [index, { gridPos: one, title }] of panels.entries()) {
      expect([title, one.x + one.w <= 24]).toEqual([title, true])
      for (const { gridPos: other, title: second } of panels.slice(index + 1)) {
        const apart =
          one.x + one.w <= other.x ||
          other.x + other.w <= one.x ||
          one.y + one.h <= other.y ||
          other.y + other.h <= one.y
        expect([title, second, apart]).toEqual([title, second, true])
      }
    }
  })
})

const settings = new Set(describeConfig({}, {}, PROVIDER_SETTINGS).map(({ name }) => name))

/** Fails if the text names an image with a registry, or a setting that does not exist. */
function checkTexts(text: string): void {
  for (const [name] of text.matchAll(/TAGWARDEN_[A-Z_]+/g)) {
    if (name !== 'TAGWARDEN_SERVICE_HOST') expect([name, settings.has(name)]).toEqual([name, true])
  }
  for (const [, image = ''] of text.matchAll(/^\s*image: (\S+)/gm)) expect(image).toBe('tagwarden')
}

test('ops/compose.yml builds the local image, with a read-only root and without privileges', () => {
  const text = read('compose.yml')
  checkTexts(text)
  const compose = YAML.parse(text) as { services: Record<string, Record<string, unknown>>; volumes: object }
  const own = compose.services.tagwarden
  expect(Object.keys(compose.services)).toEqual(['tagwarden'])
  expect(own).toMatchObject({
    image: 'tagwarden',
    build: { context: '..', target: 'server' },
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    volumes: ['data:/data'],
  })
  expect(compose.volumes).toEqual({ data: null })
  const dockerfile = readFileSync(join(OPS, '../Dockerfile'), 'utf8')
  expect(dockerfile).toContain(' AS server')
  expect(dockerfile).toContain('VOLUME /data')
})

test('ops/kubernetes.yml runs one replica as the user of the image', () => {
  const text = read('kubernetes.yml')
  checkTexts(text)
  const documents = text
    .split(/^---$/m)
    // biome-ignore lint/suspicious/noExplicitAny: an untyped document
    .map((part) => YAML.parse(part) as any)
  expect(documents.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`)).toEqual([
    'v1 Secret',
    'v1 ConfigMap',
    'v1 Service',
    'apps/v1 StatefulSet',
  ])
  const [secret, map, service, set] = documents
  for (const name of [...Object.keys(secret.stringData), ...Object.keys(map.data)]) expect(settings).toContain(name)
  const { template } = set.spec
  const [container] = template.spec.containers
  expect(set.spec.selector.matchLabels).toEqual(template.metadata.labels)
  expect(service.spec.selector).toEqual(template.metadata.labels)
  expect(set.spec.serviceName).toBe(service.metadata.name)
  expect(set.spec.replicas).toBe(1)
  expect(template.spec).toMatchObject({
    // Otherwise, the variables that Kubernetes adds would stop the start.
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 },
  })
  expect(readFileSync(join(OPS, '../Dockerfile'), 'utf8')).toContain('--uid 10001')
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const ports = container.ports.map(({ name }: { name: string }) => name)
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(ports).toContain(container[probe].httpGet.port)
  expect(service.spec.ports[0].targetPort).toBe(ports[0])
  const volumes = [
    ...template.spec.volumes,
    ...set.spec.volumeClaimTemplates.map(({ metadata }: { metadata: { name: string } }) => metadata),
  ]
  expect(container.volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(
    volumes.map(({ name }) => name).sort(),
  )
})

describe('ops/tagwarden.service', () => {
  const text = read('tagwarden.service')
  test('names only settings that exist', () => checkTexts(text))

  test.skipIf(Bun.which('systemd-analyze') === null)('has an exposure below 3', () => {
    const { stdout } = Bun.spawnSync(['systemd-analyze', 'security', '--offline=true', join(OPS, 'tagwarden.service')])
    const exposure = Number(/Overall exposure level for tagwarden\.service: ([\d.]+)/.exec(stdout.toString())?.[1])
    expect(exposure).toBeLessThan(3)
  })

  test('runs the server in its own folders, which nobody else can read', () => {
    expect(text.match(/^(?:ExecStart|Environment|User|(?:State|Cache)Directory(?:Mode)?)=.*$/gm)).toEqual([
      'ExecStart=/usr/local/bin/tagwarden serve',
      'Environment=TAGWARDEN_DATA=/var/lib/tagwarden',
      'Environment=XDG_CACHE_HOME=/var/cache/tagwarden',
      'User=tagwarden',
      'StateDirectory=tagwarden',
      'StateDirectoryMode=0700',
      'CacheDirectory=tagwarden',
      'CacheDirectoryMode=0700',
    ])
  })
})
