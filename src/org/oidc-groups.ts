import { SECOND_MS } from '../core/clock.ts'
import { jsonObject } from '../core/json.ts'
import { atLeast } from '../http/principal.ts'
import { type Claims, type GroupRole, objectOf, roleOf } from './oidc-user.ts'

/*
 * Entra ID lists no groups in the token of a user who has more than 200. The token says where they are instead
 * ("groups overage"): https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference#groups-overage-claim
 */

/** The part of the standard `fetch` that a provider needs. */
export type ProviderRequest = (
  url: string,
  init: { method: string; headers: Record<string, string>; body: unknown; signal?: AbortSignal },
) => Promise<Response>

/** Hosts of Microsoft Graph: https://learn.microsoft.com/graph/deployments. No other host gets an access token. */
const GRAPH_HOSTS = [
  'graph.microsoft.com',
  'graph.microsoft.us',
  'dod-graph.microsoft.us',
  'microsoftgraph.chinacloudapi.cn',
] as const
type GraphHost = (typeof GRAPH_HOSTS)[number]

/** Hosts that tokens and issuers name, by the host of Microsoft Graph in the same cloud. Azure AD Graph is retired. */
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

/** The largest page: https://learn.microsoft.com/graph/api/user-list-transitivememberof */
const PAGE_SIZE = 999
const MAX_PAGES = 20
const FIRST_PAGE = `/v1.0/me/transitiveMemberOf?$select=id&$top=${PAGE_SIZE}`

/** The groups of a user are unknown: the message is a sentence for the user, which says what to configure. */
export class UnknownGroups extends Error {
  constructor(
    message: string,
    /** Details for the log. */
    readonly detail: string,
  ) {
    super(message)
  }
}

/** An answer of Microsoft Graph that lists no groups. */
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
  /** Limit of all requests together. */
  timeoutS: number
}

/**
 * Asks Microsoft Graph for the ids of the groups of a user whose token does not list them. `sources` are the claims of
 * the ID token and of userinfo. Fails with `UnknownGroups` when there is no Graph to ask, when Graph does not list them
 * all, and when the setting of roles has names of groups, which ids can't be compared with.
 */
export async function groupsFromGraph(
  { name, groupsClaim, roles, request, timeoutS }: OverageParts,
  sources: readonly Claims[],
  accessToken: string,
): Promise<string[]> {
  const unknown = (problem: string, remedy: string, detail: string) =>
    new UnknownGroups(
      `${name} did not send your groups: there are more than fit into its token (groups overage)${problem}. ` +
        `Your membership is unchanged. An administrator of ${name} must limit the groups claim of this application to ` +
        `the groups that are assigned to the application${remedy}`,
      `groups overage: ${detail}`,
    )
  const host = graphHost(sources, groupsClaim)
  if (host === null) throw unknown('', '', 'the token names no Microsoft Graph')
  let groups: string[]
  try {
    groups = await listGroups(host, { request, accessToken, signal: AbortSignal.timeout(timeoutS * SECOND_MS) })
  } catch (error) {
    const { status, message } = error instanceof GraphFailure ? error : new GraphFailure(null, 'no answer')
    const isRefused = status === 401 || status === 403
    throw unknown(
      `, and Microsoft Graph ${isRefused ? `refused to list them (HTTP ${status})` : 'could not list them'}`,
      isRefused
        ? ', or give it the delegated Microsoft Graph permission User.Read with admin consent'
        : ', or you try again later',
      `${host}: ${message}`,
    )
  }
  if (isDecisive(groups, roles)) return groups
  throw unknown(
    ', and Microsoft Graph lists groups by object id',
    ', or the operator of this server must name groups by their object id in TAGWARDEN_OIDC_ROLES',
    `${host}: roles name groups that are no object ids`,
  )
}

/** Returns the host of Microsoft Graph for these claims: of the cloud of the claim source, else of the issuer; or null. */
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
    if (!Array.isArray(answer?.value)) throw new GraphFailure(null, 'the answer is not a list')
    for (const member of answer.value) {
      const id = objectOf(member)?.id
      if (typeof id === 'string') groups.push(id)
    }
    next = nextPage(answer['@odata.nextLink'], origin)
  }
  return groups
}

/** Returns the address of the next page; null after the last. Fails when it is elsewhere. */
function nextPage(link: unknown, origin: string): string | null {
  if (link === undefined || link === null) return null
  const url = typeof link === 'string' ? URL.parse(link) : null
  if (url?.origin !== origin || url.username !== '') throw new GraphFailure(null, 'the next page is on another host')
  return url.href
}

const OBJECT_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** True when no group of the setting that is a name, and so absent from a list of ids, could give a higher role. */
function isDecisive(ids: readonly string[], roles: readonly GroupRole[]): boolean {
  const found = roleOf(ids, roles)
  return roles.every(({ group, role }) => OBJECT_ID.test(group) || (found !== null && atLeast(found, role)))
}
