import { atLeast } from '../contract/roles.ts'
import { SECOND_MS } from '../core/clock.ts'
import { jsonObject } from '../core/parse-json-object.ts'
import type { GroupRole } from '../setting-values.ts'
import { type Claims, objectOf, roleOf } from './oidc-user.ts'

/*
 * Entra ID omits the groups of users with more than 200 groups from the token. The token then contains the source of
 * the groups ("groups overage"):
 * https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference#groups-overage-claim
 */

/** The subset of the standard `fetch` that a provider needs. */
export type ProviderRequest = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: unknown; signal?: AbortSignal },
) => Promise<Response>

/** Hosts of Microsoft Graph: https://learn.microsoft.com/graph/deployments. Access tokens are sent to no other host. */
const GRAPH_HOSTS = [
  'graph.microsoft.com',
  'graph.microsoft.us',
  'dod-graph.microsoft.us',
  'microsoftgraph.chinacloudapi.cn',
] as const
type GraphHost = (typeof GRAPH_HOSTS)[number]

/** Maps hosts in tokens and issuers to the Microsoft Graph host of the same cloud. Azure AD Graph is retired. */
const GRAPH_OF: ReadonlyMap<string, GraphHost> = new Map([
  ...GRAPH_HOSTS.map((host): [string, GraphHost] => [host, host]),
  ['graph.windows.net', 'graph.microsoft.com'],
  ['login.microsoftonline.com', 'graph.microsoft.com'],
  ['login.windows.net', 'graph.microsoft.com'],
  ['sts.windows.net', 'graph.microsoft.com'],
  ['graph.microsoftazure.us', 'graph.microsoft.us'],
  ['login.microsoftonline.us', 'graph.microsoft.us'],
  ['graph.chinacloudapi.cn', 'microsoftgraph.chinacloudapi.cn'],
  ['login.chinacloudapi.cn', 'microsoftgraph.chinacloudapi.cn'],
  ['login.partner.microsoftonline.cn', 'microsoftgraph.chinacloudapi.cn'],
])

/** Maximum page size: https://learn.microsoft.com/graph/api/user-list-transitivememberof */
const PAGE_SIZE = 999
const MAX_PAGES = 20
const FIRST_PAGE = `/v1.0/me/transitiveMemberOf?$select=id&$top=${PAGE_SIZE}`

/**
 * Thrown when the groups of a user are unknown. The message is a sentence for the user that says which configuration to
 * change.
 */
export class UnknownGroups extends Error {
  constructor(
    message: string,
    /** Details that are logged but not shown to the user. */
    readonly detail: string,
  ) {
    super(message)
  }
}

/** Thrown when Microsoft Graph does not return a list of groups. */
class GraphFailure extends Error {
  constructor(
    readonly status: number | null,
    message: string,
  ) {
    super(message)
  }
}

interface OverageParts {
  /** Display name of the provider. */
  name: string
  groupsClaim: string
  roles: readonly GroupRole[]
  request: ProviderRequest
  /** Total timeout in seconds for all requests. */
  timeoutS: number
}

/**
 * Requests the group ids of a user from Microsoft Graph when the token does not list them. `sources` are the claims of
 * the ID token and of userinfo. Throws `UnknownGroups` when there is no Graph host, when Graph does not return all
 * groups, and when the role setting contains group names, which can't be compared with ids.
 */
export async function groupsFromGraph(
  { name, groupsClaim, roles, request, timeoutS }: OverageParts,
  sources: readonly Claims[],
  accessToken: string,
): Promise<string[]> {
  const unknown = (problem: string, remedy: string, detail: string) =>
    new UnknownGroups(
      `${name} did not send your groups: there are too many to fit into its token (groups overage)${problem}. ` +
        `Your membership is unchanged. An administrator of ${name} must limit the groups claim of this application to ` +
        `the groups that are assigned to the application${remedy}`,
      `groups overage: ${detail}`,
    )
  const host = graphHost(sources, groupsClaim)
  if (host === null) throw unknown('', '', 'the token does not name a Microsoft Graph endpoint')
  let groups: string[]
  try {
    groups = await listGroups(host, { request, accessToken, signal: AbortSignal.timeout(timeoutS * SECOND_MS) })
  } catch (error) {
    const { status, message } = error instanceof GraphFailure ? error : new GraphFailure(null, 'no response')
    const isRefused = status === 401 || status === 403
    throw unknown(
      `, and Microsoft Graph ${isRefused ? `refused to list them (HTTP ${status})` : 'could not list them'}`,
      isRefused
        ? ', or give it the delegated Microsoft Graph permission User.Read with admin consent'
        : ', or you can try again later',
      `${host}: ${message}`,
    )
  }
  if (isDecisive(groups, roles)) return groups
  throw unknown(
    ', and Microsoft Graph lists groups by object id',
    ', or the operator of this server must name groups by their object id in TAGWARDEN_OIDC_ROLES',
    `${host}: roles name groups that are not object ids`,
  )
}

/**
 * Returns the Microsoft Graph host for the cloud of the claim source or, when the claim source is unknown, of the
 * issuer. Null when neither is known.
 */
function graphHost(sources: readonly Claims[], groupsClaim: string): GraphHost | null {
  const endpoints = sources.map((claims) => {
    const source = objectOf(claims._claim_names)?.[groupsClaim] ?? claims[groupsClaim]
    const all = objectOf(claims._claim_sources)
    return typeof source === 'string' && all && Object.hasOwn(all, source) ? objectOf(all[source])?.endpoint : null
  })
  for (const address of [...endpoints, ...sources.map(({ iss }) => iss)]) {
    const url = typeof address === 'string' ? URL.parse(address) : null
    const host = url?.protocol === 'https:' ? GRAPH_OF.get(url.host) : undefined
    if (host) return host
  }
  return null
}

async function listGroups(
  host: GraphHost,
  { request, accessToken, signal }: { request: ProviderRequest; accessToken: string; signal: AbortSignal },
): Promise<string[]> {
  const origin = `https://${host}`
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` }
  const groups: string[] = []
  let next: string | null = `${origin}${FIRST_PAGE}`
  for (let page = 0; next !== null; page++) {
    if (page === MAX_PAGES) throw new GraphFailure(null, `more than ${MAX_PAGES} pages`)
    const response: Response = await request(next, { method: 'GET', headers, body: null, signal })
    if (response.status !== 200) throw new GraphFailure(response.status, `HTTP ${response.status}`)
    const answer = jsonObject(await response.text())
    if (!Array.isArray(answer?.value)) throw new GraphFailure(null, 'the response is not a list')
    for (const member of answer.value) {
      const id = objectOf(member)?.id
      if (typeof id === 'string') groups.push(id)
    }
    next = nextPage(answer['@odata.nextLink'], origin)
  }
  return groups
}

/** Returns the URL of the next page; null after the last page. Throws when the URL is on another host. */
function nextPage(link: unknown, origin: string): string | null {
  if (link === undefined || link === null) return null
  const url = typeof link === 'string' ? URL.parse(link) : null
  if (url?.origin !== origin || url.username !== '') throw new GraphFailure(null, 'the next page is on another host')
  return url.href
}

const OBJECT_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * True when the role found by ids is final because no group that is configured by name could give a higher role. Groups
 * configured by name never match a list of ids.
 */
function isDecisive(ids: readonly string[], roles: readonly GroupRole[]): boolean {
  const found = roleOf(ids, roles)
  return roles.every(({ group, role }) => OBJECT_ID.test(group) || (found !== null && atLeast(found, role)))
}
