import { type Privacy, privacyFrom } from '../conditions/privacy-settings.ts'
import { pagePath } from '../contract/page-paths.ts'
import { messageOf } from '../core/error.ts'
import type { Static } from '../core/schema.ts'
import type { DomainVendorConfig } from '../domains/domain.ts'
import { vendorsByPattern } from '../domains/vendor-pattern.ts'
import type { FlowTest } from '../flows/flow-test.ts'
import type { RunDetailSchema } from '../flows/run-schema.ts'
import type { GateRun } from '../gate/gate-run.ts'
import { type GateExpectations, type GateRules, readExpectations, readRules } from '../gate/read-rules.ts'
import type { GateDomain, RecordedFile } from '../gate/recording.ts'
import type { EventKind, GateReport } from '../gate/report.ts'
import { UsageError } from './command.ts'
import type { ServerClient } from './server-client.ts'

/** A run of a flow test, in the form of the API. */
export type RunDetail = Static<typeof RunDetailSchema>

interface ServerDomain {
  id: string
  name: string
  monitoredUrls: readonly string[]
}

/** Access to the data that the release gate reads from a server and stores on it. */
export class GateServer {
  constructor(private readonly client: Pick<ServerClient, 'get' | 'post' | 'list' | 'pageUrl'>) {}

  /** Returns all alerts and labels of the organization. */
  async rules(): Promise<GateRules> {
    const alerts = await this.client.list('/v1/alerts', 'alerts')
    const labels = await this.client.list('/v1/insights/labels', 'labels')
    return readRules({ alerts, labels }, { orgId: 'org' })
  }

  async privacy(): Promise<Privacy> {
    return privacyFrom(await this.client.get('/v1/org'))
  }

  /**
   * Returns the domain with this id. Without an id, returns the only domain that names the host of a page in the
   * recording, in its name or its monitored URLs, or no domain.
   */
  async domain(id: string | null, files: readonly RecordedFile[]): Promise<GateDomain> {
    const domains = await this.client.list<ServerDomain>('/v1/domains', 'domains')
    const hosts = new Set(
      files.flatMap(({ requests }) => requests.flatMap(({ pageUrl }) => hostOf(pageUrl ?? '') ?? [])),
    )
    const isOn = ({ name, monitoredUrls }: ServerDomain) =>
      hosts.has(name.toLowerCase()) || monitoredUrls.some((url) => hosts.has(hostOf(url) ?? ''))
    const [only, ...others] = domains.filter((one) => (id === null ? isOn(one) : one.id === id))
    if (id !== null && !only) throw new UsageError(`verify: --domain: no such domain: ${id}`)
    if (!only || others.length > 0) return { id: '', orgId: 'org', nameVendor: vendorsByPattern([]) }
    const { vendors } = await this.client.get<{ vendors: DomainVendorConfig[] }>(`/v1/domains/${only.id}`)
    return { id: only.id, orgId: 'org', nameVendor: vendorsByPattern(vendors) }
  }

  /** Returns the flow test with this id or, otherwise, with this name. */
  async flowTest(test: string): Promise<FlowTest> {
    const tests = await this.client.list<FlowTest>('/v1/flows/tests', 'tests')
    const byId = tests.find(({ id }) => id === test)
    const named = tests.filter(({ name }) => name === test)
    if (byId) return byId
    const [only, ...others] = named
    if (!only) throw new UsageError(`verify: --flow: no such flow test: ${test}`)
    if (others.length > 0) throw new UsageError(`verify: --flow: several flow tests are named ${test}; use an id`)
    return only
  }

  async expectations(test: string): Promise<GateExpectations> {
    return readExpectations(await this.flowTest(test))
  }

  startRun(testId: string, startUrl: string | null): Promise<{ id: string }> {
    return this.client.post(`/v1/flows/tests/${encodeURIComponent(testId)}/run`, startUrl === null ? {} : { startUrl })
  }

  run(id: string): Promise<RunDetail> {
    return this.client.get(`/v1/flows/runs/${id}`)
  }

  runHar(id: string): Promise<unknown> {
    return this.client.get(`/v1/flows/runs/${id}/har`)
  }

  cancelRun(id: string): Promise<unknown> {
    return this.client.post(`/v1/flows/runs/${id}/cancel`, {})
  }

  /**
   * Returns the events of an approved run: the one with this id, or the latest one of this gate for `approved`. Null
   * when there is none yet and this run is to be approved.
   */
  async baseline(
    wanted: string,
    name: string,
    approves: boolean,
  ): Promise<{ name: string; events: readonly EventKind[] } | null> {
    const id = wanted === 'approved' ? await this.approvedRun(name) : wanted
    if (id === null) {
      if (approves) return null
      throw new UsageError(`verify: no run of the gate “${name}” is approved yet; --approve approves this one`)
    }
    const run = await this.client.get<GateRun>(`/v1/gate-runs/${encodeURIComponent(id)}`)
    if (run.approvedAt === null) throw new UsageError(`verify: --baseline: ${id} is not approved`)
    return { name: id, events: run.report.events }
  }

  private async approvedRun(name: string): Promise<string | null> {
    const query = new URLSearchParams({ name, approved: 'true', limit: '1' })
    const { runs } = await this.client.get<{ runs: { id: string }[] }>(`/v1/gate-runs?${query}`)
    return runs[0]?.id ?? null
  }

  /**
   * Stores a report, and approves it as a baseline. Returns lines that say what was done. A report that can't be
   * stored does not change the result of the gate, unless it is to be approved.
   */
  async record(report: GateReport, approves: boolean): Promise<string[]> {
    try {
      const { id } = await this.client.post<GateRun>('/v1/gate-runs', report)
      const stored = `stored as ${this.client.pageUrl(pagePath.gateRun(id))}`
      if (!approves) return [stored]
      await this.client.post(`/v1/gate-runs/${id}/approve`, {})
      return [stored, `${id} is now the approved baseline of “${report.name}”`]
    } catch (error) {
      if (approves) throw error
      return [`the result could not be stored: ${messageOf(error)}`]
    }
  }
}

const hostOf = (address: string) => URL.parse(address)?.hostname.toLowerCase()
