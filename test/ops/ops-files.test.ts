import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { YAML } from 'bun'
import { describeConfig } from '../../src/config.ts'
import { PROVIDER_SETTINGS } from '../../src/connectors.ts'
import { parseClickhouseUrl } from '../../src/transport/clickhouse-url.ts'
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

/** Images that are not built from this repository. */
const OTHER_IMAGES = ['clickhouse/clickhouse-server:26.7', 'caddy:2']

/** Fails if the text names another image, or a setting that does not exist. */
function checkTexts(text: string): void {
  for (const [name] of text.matchAll(/TAGWARDEN_[A-Z_]+/g)) {
    const setting = name.replace(/_FILE$/, '')
    if (name !== 'TAGWARDEN_SERVICE_HOST') expect([name, settings.has(setting)]).toEqual([name, true])
  }
  for (const [, image = ''] of text.matchAll(/^\s*image: (\S+)/gm))
    expect(['tagwarden', ...OTHER_IMAGES]).toContain(image)
}

type Service = Record<string, unknown> & { environment: Record<string, string>; volumes: string[] }

function composeFile(name: string) {
  const text = read(name)
  checkTexts(text)
  return YAML.parse(text) as {
    services: Record<string, Service>
    volumes: Record<string, null>
    configs?: Record<string, { content: string }>
  }
}

/** Settings of a container that runs Tagwarden. */
const CONFINED = {
  image: 'tagwarden',
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
}
const BUILD = { context: '..', target: 'server' }

test('ops/compose.yml builds the local image, with a read-only root and without privileges', () => {
  const compose = composeFile('compose.yml')
  expect(Object.keys(compose.services)).toEqual(['tagwarden'])
  expect(compose.services.tagwarden).toMatchObject({ ...CONFINED, build: BUILD, volumes: ['data:/data'] })
  expect(compose.volumes).toEqual({ data: null })
  const dockerfile = readFileSync(join(OPS, '../Dockerfile'), 'utf8')
  expect(dockerfile).toContain(' AS server')
  expect(dockerfile).toContain('VOLUME /data')
})

test('ops/compose-clickhouse.yml runs two collectors behind a balancer, which share their events with the control node', () => {
  const { services, volumes, configs } = composeFile('compose-clickhouse.yml')
  const { clickhouse, tagwarden, balancer, ...collectors } = services
  expect(tagwarden).toMatchObject({ ...CONFINED, build: BUILD, volumes: ['data:/data'] })
  expect(Object.keys(collectors)).toEqual(['collector-1', 'collector-2'])
  const warehouse = parseClickhouseUrl(tagwarden?.environment.TAGWARDEN_WAREHOUSE?.replace(/\$\{[^}]+\}/, 'p') ?? '')
  expect(warehouse).toMatchObject({ url: 'http://clickhouse:8123', cluster: null, password: 'p' })
  expect(clickhouse?.environment).toMatchObject({ CLICKHOUSE_DB: warehouse.database, CLICKHOUSE_USER: warehouse.user })
  const proxied = configs?.balancer?.content ?? ''
  for (const [name, collector] of Object.entries(collectors)) {
    expect(collector).toMatchObject({
      ...CONFINED,
      command: ['collect', '--control', 'http://tagwarden:8787'],
      volumes: [`${name}:/data`],
      environment: {
        TAGWARDEN_WAREHOUSE: tagwarden?.environment.TAGWARDEN_WAREHOUSE,
        TAGWARDEN_COLLECT_URL: tagwarden?.environment.TAGWARDEN_COLLECT_URL,
        TAGWARDEN_OUTBOUND_ALLOW: 'tagwarden',
      },
    })
    expect(collector).not.toHaveProperty('ports')
    expect(proxied).toContain(` ${name}:8787`)
  }
  const tokens = Object.values(collectors).map(({ environment }) => environment.TAGWARDEN_COLLECTOR_TOKEN)
  expect(new Set(tokens).size).toBe(2)
  expect(proxied).toContain('health_uri /readyz')
  const mounted = [clickhouse, tagwarden, balancer, ...Object.values(collectors)].flatMap((one) => one?.volumes ?? [])
  const named = mounted.map((volume) => volume.split(':')[0] ?? '').filter((name) => !name.startsWith('./'))
  expect(named.sort()).toEqual(Object.keys(volumes).sort())
  for (const file of mounted.filter((volume) => volume.startsWith('./'))) read(file.split(':')[0] ?? '')
})

/** Documents of a Kubernetes manifest by kind and name. */
function manifest(name: string) {
  const text = read(name)
  checkTexts(text)
  // biome-ignore lint/suspicious/noExplicitAny: an untyped document
  const documents = text.split(/^---$/m).map((part) => YAML.parse(part) as any)
  return new Map(documents.map((one) => [`${one.kind} ${one.metadata.name}`, one]))
}

// biome-ignore lint/suspicious/noExplicitAny: an untyped document
function checkStatefulSet(set: any, service: any): void {
  const { template } = set.spec
  const [container] = template.spec.containers
  expect(set.apiVersion).toBe('apps/v1')
  expect(set.spec.selector.matchLabels).toEqual(template.metadata.labels)
  expect(service.spec.selector).toEqual(template.metadata.labels)
  expect(set.spec.serviceName).toBe(service.metadata.name)
  expect(template.spec).toMatchObject({
    // Otherwise, the variables that Kubernetes adds would stop the start.
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 },
  })
  expect(readFileSync(join(OPS, '../Dockerfile'), 'utf8')).toContain('--uid 10001')
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const ports = container.ports.map(({ name }: { name: string }) => name)
  for (const [probe, path] of [
    ['livenessProbe', '/healthz'],
    ['readinessProbe', /^\/(?:healthz|readyz)$/],
  ] as const) {
    expect(ports).toContain(container[probe].httpGet.port)
    expect(container[probe].httpGet.path).toMatch(path)
  }
  expect(service.spec.ports[0].targetPort).toBe(ports[0])
  const volumes = [
    ...template.spec.volumes,
    ...set.spec.volumeClaimTemplates.map(({ metadata }: { metadata: { name: string } }) => metadata),
  ]
  expect(container.volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(
    volumes.map(({ name }) => name).sort(),
  )
}

test('ops/kubernetes.yml runs one replica as the user of the image', () => {
  const documents = manifest('kubernetes.yml')
  expect([...documents.keys()]).toEqual([
    'Secret tagwarden',
    'ConfigMap tagwarden',
    'Service tagwarden',
    'StatefulSet tagwarden',
  ])
  const [secret, map, service, set] = documents.values()
  for (const name of [...Object.keys(secret.stringData), ...Object.keys(map.data)]) expect(settings).toContain(name)
  expect(set.spec.replicas).toBe(1)
  checkStatefulSet(set, service)
  expect(set.spec.template.spec.containers[0].startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' })
})

test('ops/kubernetes-collectors.yml runs one control node, and three collectors each with its own token', () => {
  const documents = manifest('kubernetes-collectors.yml')
  for (const [name, one] of documents) {
    if (!/^(?:Secret|ConfigMap) /.test(name)) continue
    for (const setting of Object.keys(one.stringData ?? one.data)) expect(settings).toContain(setting)
  }
  const setOf = (name: string) => documents.get(`StatefulSet ${name}`)
  for (const name of ['tagwarden', 'tagwarden-collector'])
    checkStatefulSet(setOf(name), documents.get(`Service ${name}`))
  const [control, collectors] = [setOf('tagwarden'), setOf('tagwarden-collector')]
  expect([control.spec.replicas, collectors.spec.replicas]).toEqual([1, 3])
  const [container] = collectors.spec.template.spec.containers
  expect(container.args).toEqual(['collect', '--control', 'http://tagwarden'])
  const [, token] = container.env
  expect(token.value).toBe('/tokens/$(POD_NAME)')
  const tokens = container.volumeMounts.find(({ name }: { name: string }) => name === 'tokens')
  expect(tokens).toEqual({ name: 'tokens', mountPath: '/tokens', readOnly: true })
  expect(container.readinessProbe.httpGet.path).toBe('/readyz')
  const warehouse = documents.get('Secret tagwarden-warehouse').stringData.TAGWARDEN_WAREHOUSE
  expect(parseClickhouseUrl(warehouse)).toMatchObject({ cluster: 'main', replicated: false })
  for (const set of [control, collectors]) {
    const sources = set.spec.template.spec.containers[0].envFrom
    expect(sources).toContainEqual({ secretRef: { name: 'tagwarden-warehouse' } })
    for (const { configMapRef, secretRef } of sources)
      expect(documents.has(configMapRef ? `ConfigMap ${configMapRef.name}` : `Secret ${secretRef.name}`)).toBe(true)
  }
  const budget = documents.get('PodDisruptionBudget tagwarden-collector')
  expect(budget.spec.selector.matchLabels).toEqual(collectors.spec.selector.matchLabels)
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
