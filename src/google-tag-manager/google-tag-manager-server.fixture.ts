import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import type { Clock, Instant } from '../core/clock.ts'
import { type Received, receiver } from '../transport/receiver.fixture.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** A key file as downloaded from Google. */
export const KEY_FILE = {
  type: 'service_account',
  project_id: 'shop-tags',
  private_key_id: 'k3y-1d',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  client_email: 'tagwarden@shop-tags.iam.gserviceaccount.com',
  client_id: '100000000000000000001',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
  token_uri: 'https://token.elsewhere.example/token',
}

export const OAUTH = { clientId: 'client-1', clientSecret: 'GOCSPX-cl1ent', refreshToken: '1//r3fresh-t0ken' }

export const CONTAINER = 'accounts/6/containers/71'

type Json = Record<string, unknown>
export type FakeEntity = Json & { path: string; name: string; fingerprint: string }
type Kind = 'templates' | 'triggers' | 'tags' | 'variables'

const KINDS: Record<Kind, { field: string; id: string }> = {
  templates: { field: 'template', id: 'templateId' },
  triggers: { field: 'trigger', id: 'triggerId' },
  tags: { field: 'tag', id: 'tagId' },
  variables: { field: 'variable', id: 'variableId' },
}

interface Space extends Record<Kind, FakeEntity[]> {
  about: FakeEntity
  /** The version that the workspace was created from or last synced to. */
  base: string
  conflicts: Json[]
}

/** A recorded API call. */
export interface RecordedRequest {
  method: string
  path: string
  at: Instant
  status: number
}

const refusal = (code: number, reason: string, message: string) =>
  Response.json({ error: { code, message, errors: [{ message, domain: 'global', reason }] } }, { status: code })

const notFound = () => refusal(404, 'notFound', 'Not found or permission denied.')

/** A fake Google Tag Manager with one container and a token endpoint. It stops when disposed. */
export function tagManagerServer(clock: Clock) {
  const behaviour = {
    /** Maximum number of accepted calls per 100 s. */
    quota: 25,
    pageSize: 20,
    mostWorkspaces: 3,
    audience: '',
    /** Replaces a response before the call takes effect. Null: the normal response is sent. */
    instead: (_method: string, _path: string): Response | null => null,
    grant: (_form: URLSearchParams): Response | null => null,
    /** True if the call takes effect but the connection stays open without a response. */
    hangs: (_method: string, _path: string): boolean => false,
  }
  const asked: RecordedRequest[] = []
  const grants: URLSearchParams[] = []
  const tokens: { token: string; until: Instant }[] = []
  let ids = 100
  let stamps = 1_700_000_000_000
  const version = { latest: '12', live: '12' as string | null, name: 'Spring' }
  const base: Record<Kind, FakeEntity[]> = { templates: [], triggers: [], tags: [], variables: [] }
  const builtIn = [{ name: 'Page URL', type: 'pageUrl' }]
  const spaces = new Map<string, Space>()

  const stamp = () => String(++stamps)
  const copies = () =>
    Object.fromEntries(Object.entries(base).map(([kind, all]) => [kind, structuredClone(all)])) as Record<
      Kind,
      FakeEntity[]
    >

  function addSpace(name: string, id = String(++ids)): Space {
    const path = `${CONTAINER}/workspaces/${id}`
    const own = copies()
    for (const kind of Object.keys(KINDS) as Kind[])
      for (const one of own[kind]) one.path = `${path}/${kind}/${one[KINDS[kind].id]}`
    const about = { path, name, workspaceId: id, accountId: '6', containerId: '71', fingerprint: stamp() }
    const space: Space = { about, base: version.latest, conflicts: [], ...own }
    spaces.set(id, space)
    return space
  }

  /** Adds an entity to every workspace as if the latest version contained it. */
  function give(kind: Kind, fields: Json & { name: string }): string {
    const id = String(++ids)
    const thing = { accountId: '6', containerId: '71', ...fields, [KINDS[kind].id]: id, fingerprint: stamp(), path: '' }
    base[kind].push(thing)
    for (const space of spaces.values()) space[kind].push({ ...thing, path: `${space.about.path}/${kind}/${id}` })
    return id
  }

  /** Publishes a version as a user would. */
  function publish(name: string): string {
    version.latest = String(Number(version.latest) + 1)
    version.live = version.latest
    version.name = name
    return version.live
  }

  function page(all: readonly unknown[], field: string, query: URLSearchParams): Response {
    const from = Number((query.get('pageToken') ?? 'at-0').replace('at-', ''))
    const to = from + behaviour.pageSize
    // Google omits empty lists.
    const items = all.slice(from, to)
    return Response.json({
      ...(items.length > 0 ? { [field]: items } : {}),
      ...(to < all.length ? { nextPageToken: `at-${to}` } : {}),
    })
  }

  function create(space: Space, kind: Kind, body: Json): Response {
    const fault = faultOf(space, kind, body)
    if (fault) return fault
    const id = String(++ids)
    const path = `${space.about.path}/${kind}/${id}`
    const made = { ...body, path, [KINDS[kind].id]: id, fingerprint: stamp() } as FakeEntity
    space[kind].push(made)
    return Response.json(made)
  }

  function faultOf(space: Space, kind: Kind, body: Json, own?: FakeEntity): Response | null {
    if (space[kind].some((one) => one.name === body.name && one !== own))
      return refusal(400, 'badRequest', 'Found entity with duplicate name.')
    const type = String(body.type)
    const types = space.templates.map(({ templateId, galleryReference }) =>
      galleryReference
        ? `cvt_${(galleryReference as { galleryTemplateId: string }).galleryTemplateId}`
        : `cvt_71_${templateId}`,
    )
    if (kind === 'tags' && type.startsWith('cvt_') && !types.includes(type))
      return refusal(400, 'badRequest', `Unknown entity type: ${type}`)
    return null
  }

  function update(space: Space, kind: Kind, one: FakeEntity, body: Json, fingerprint: string | null): Response {
    if (fingerprint !== null && fingerprint !== one.fingerprint)
      return refusal(412, 'conditionNotMet', 'The fingerprint does not match the one of the entity in storage.')
    const fault = faultOf(space, kind, body, one)
    if (fault) return fault
    const { path } = one
    const idField = KINDS[kind].id
    const id = one[idField]
    for (const field of Object.keys(one)) delete one[field]
    Object.assign(one, body, { path, [idField]: id, fingerprint: stamp() })
    return Response.json(one)
  }

  function inSpace(
    space: Space,
    method: string,
    rest: readonly string[],
    query: URLSearchParams,
    body: Json,
  ): Response {
    const [kind, id] = rest
    if (kind === 'status')
      return Response.json({ ...(space.conflicts.length > 0 ? { mergeConflict: space.conflicts } : {}) })
    if (kind === 'built_in_variables') return page(builtIn, 'builtInVariable', query)
    if (kind === undefined || !Object.hasOwn(KINDS, kind)) return notFound()
    const all = space[kind as Kind]
    if (id === undefined) {
      return method === 'POST' ? create(space, kind as Kind, body) : page(all, KINDS[kind as Kind].field, query)
    }
    const one = all.find((thing) => thing.path === `${space.about.path}/${kind}/${id}`)
    if (!one) return notFound()
    return method === 'PUT' ? update(space, kind as Kind, one, body, query.get('fingerprint')) : Response.json(one)
  }

  function carryOut(method: string, path: string, query: URLSearchParams, body: Json): Response {
    if (path === 'accounts') return page([{ path: 'accounts/6', accountId: '6', name: 'Shop' }], 'account', query)
    if (path === 'accounts/6/containers') return page([{ path: CONTAINER, publicId: 'GTM-SHOP' }], 'container', query)
    if (!path.startsWith(`${CONTAINER}/`)) return notFound()
    const rest = path.slice(CONTAINER.length + 1)
    if (rest === 'versions:live') {
      if (version.live === null) return notFound()
      const tag = base.tags
      return Response.json({
        containerVersionId: version.live,
        name: version.name,
        container: { publicId: 'GTM-SHOP' },
        tag,
      })
    }
    const [first, second = '', ...more] = rest.split('/')
    if (first !== 'workspaces') return notFound()
    if (second === '') {
      if (method === 'GET')
        return page(
          [...spaces.values()].map(({ about }) => about),
          'workspace',
          query,
        )
      if (spaces.size >= behaviour.mostWorkspaces)
        return refusal(403, 'limitExceeded', 'The number of workspaces in the container has reached its limit.')
      return Response.json(addSpace(String(body.name)).about)
    }
    const space = spaces.get(second.replace(/:sync$/, ''))
    if (!space) return notFound()
    if (!second.endsWith(':sync')) return inSpace(space, method, more, query, body)
    if (space.conflicts.length > 0)
      return Response.json({ syncStatus: { mergeConflict: true }, mergeConflict: space.conflicts })
    space.base = version.latest
    return Response.json({ syncStatus: {} })
  }

  function grant(form: URLSearchParams): Response {
    grants.push(form)
    const other = behaviour.grant(form)
    if (other) return other
    const isGood = form.has('assertion')
      ? isOurs(form.get('assertion') ?? '')
      : form.get('refresh_token') === OAUTH.refreshToken
    if (!isGood)
      return Response.json({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, { status: 400 })
    const token = `ya29.access-t0ken-${tokens.length}`
    tokens.push({ token, until: clock.now() + 3600_000 })
    return Response.json({ access_token: token, expires_in: 3599, token_type: 'Bearer' })
  }

  function isOurs(assertion: string): boolean {
    const [header = '', claims = '', signature = ''] = assertion.split('.')
    const { aud, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const signed = Buffer.from(`${header}.${claims}`)
    return (
      verify(
        'sha256',
        signed,
        createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
        Buffer.from(signature, 'base64url'),
      ) &&
      aud === behaviour.audience &&
      Math.abs(iat * 1000 - clock.now()) < 300_000 &&
      exp - iat <= 3600
    )
  }

  function answer({ method, path: target, headers, body }: Received): Response | Promise<Response> {
    const url = new URL(target, 'http://tags')
    if (url.pathname === '/token') return grant(new URLSearchParams(body))
    const path = url.pathname.replace('/tagmanager/v2/', '')
    const done = (response: Response) => {
      asked.push({ method, path, at: clock.now(), status: response.status })
      return response
    }
    const taken = asked.filter(({ at }) => at > clock.now() - 100_000).length
    if (taken >= behaviour.quota)
      return done(refusal(403, 'rateLimitExceeded', "Quota exceeded for quota metric 'Queries' per 100 seconds."))
    const known = tokens.some(({ token, until }) => headers.authorization === `Bearer ${token}` && until > clock.now())
    if (!known) return done(refusal(401, 'authError', 'Request had invalid authentication credentials.'))
    const other = behaviour.instead(method, path)
    if (other) return done(other)
    const answer = carryOut(method, path, url.searchParams, body === '' ? {} : JSON.parse(body))
    done(answer)
    return behaviour.hangs(method, path) ? new Promise(() => undefined) : answer
  }

  addSpace('Default Workspace', '2')
  const server = receiver(answer)
  behaviour.audience = `${server.url}/token`
  const operator = {
    TAG_MANAGER_URL: `${server.url}/tagmanager/v2`,
    TAG_MANAGER_TOKEN_URL: behaviour.audience,
  }
  const space = (name: string) => [...spaces.values()].find(({ about }) => about.name === name)
  return {
    ...server,
    operator,
    behaviour,
    asked,
    grants,
    tokens,
    version,
    builtIn,
    spaces,
    space,
    addSpace,
    give,
    publish,
  }
}
export type TagManagerServer = ReturnType<typeof tagManagerServer>
