import type { Privacy } from '../conditions/privacy-settings.ts'
import { type Clock, DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import { requirePermission } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import { ById, publicRoute, type Route, route } from '../http/route.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import { networkOf } from '../org/sign-in.ts'
import { timezoneOf } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { SHARE_HEADERS, sharePage } from './page/share-page.ts'
import { publicReport } from './public-report.ts'
import type { FindShareableRun, ShareableRun } from './shareable-runs.ts'
import { addShare, revokeShares, type SharedRun, sharedRun } from './store.ts'

interface ShareRoutesDeps {
  db: Db
  clock: Clock
  publicUrl: string
  /** Rate limit per IP address for page requests and invalid links. */
  limit: RateLimit
  privacyOf(orgId: string): Privacy
  findRun: FindShareableRun
}

const DEFAULT_DAYS = 30

const ShareInputSchema = Closed(
  {
    revoke: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'True: all links to the run are revoked immediately, and no link is created',
      }),
    ),
    expiresInDays: Type.Optional(
      Int({ minimum: 1, maximum: 90, default: DEFAULT_DAYS, description: 'Number of days until the new link expires' }),
    ),
    screenshots: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether the page shows screenshots. Check each one first: text in images and canvases is not masked',
      }),
    ),
    screenshotSteps: Type.Optional(
      Type.Array(Int({ minimum: 0, maximum: 199 }), {
        maxItems: 200,
        description: 'Indexes, from 0, of the steps whose screenshots are shown. Default: all. Requires `screenshots`',
      }),
    ),
  },
  { $id: 'ShareInput', examples: [{ expiresInDays: 7, screenshots: true }] },
)

type ShareInput = Static<typeof ShareInputSchema>

const ShareLinkSchema = Closed(
  { url: Type.String({ description: 'URL of the public page, returned only once. Empty if links were revoked' }) },
  { $id: 'ShareLink', examples: [{ url: 'https://tags.company.example/share/Jx2vT0mK8nQ4rW6yB1dF3hL5pS7uV9zA' }] },
)

const Page = Type.String({ description: 'HTML page without scripts', examples: ['<!doctype html>…'] })

/** Routes for sharing runs: creating, revoking and showing links. */
export function shareRoutes(deps: ShareRoutesDeps): Route[] {
  const { db, clock, publicUrl, limit, findRun } = deps
  return [
    route({
      id: 'shareRun',
      method: 'POST',
      path: '/v1/audits/{id}/share',
      access: 'edit',
      tag: 'Shares',
      summary: 'Create a public link to a finished run, or revoke all of its links',
      description:
        'For audits and flow test runs. Anyone with the link can view this run, and nothing else, without signing in. ' +
        'Personal data is masked, and screenshots are hidden unless `screenshots` is true. Each call creates another ' +
        'link; a run can have up to 50 active links. Returns 409 if the run has not finished or has too many links.',
      refusals: ['conflict'],
      params: ById,
      body: ShareInputSchema,
      bodyOptional: true,
      answer: ShareLinkSchema,
      handle({ principal, params, body, origin }) {
        const { revoke = false, expiresInDays = DEFAULT_DAYS } = body
        const { orgId, userId, keyId } = principal
        const run = { orgId, runId: params.id }
        const found = findRun(run)
        if (!found) throw new AppError('notFound', `id: run ${params.id} does not exist`)
        const now = clock.now()
        const entry = { orgId, userId, keyId, address: origin.address, target: params.id }
        if (revoke) {
          revokeShares(db, run, now)
          writeAuditEntry(db, clock, { ...entry, act: 'shareRun', note: { revoke } })
          return { url: '' }
        }
        if (!found.report()) throw new AppError('conflict', 'id: the run has not finished and can’t be shared yet')
        const screenshots = chosenScreenshots(body, found, principal)
        const token = addShare(db, run, { expiresAt: now + expiresInDays * DAY_MS, screenshots }, now)
        const note = { expiresInDays, ...(screenshots.length > 0 && { screenshots: screenshots.length }) }
        writeAuditEntry(db, clock, { ...entry, act: 'shareRun', note })
        return { url: `${publicUrl}/share/${token}` }
      },
    }),
    publicRoute({
      id: 'showShare',
      method: 'GET',
      path: '/share/{token}',
      tag: 'Shares',
      summary: 'Show the public page of a run, or a screenshot with `step`',
      description: 'Returns 404 for unknown, expired and revoked links.',
      refusals: ['notFound', 'rateLimited'],
      params: Closed({ token: Type.String({ maxLength: 200 }) }),
      query: Closed({
        step: Type.Optional(
          Int({
            minimum: 0,
            maximum: 199,
            description: 'Index of the step whose PNG screenshot is returned. Default: the page',
          }),
        ),
      }),
      answer: Page,
      produces: 'text/html; charset=utf-8',
      headers: (answer) => ({
        ...SHARE_HEADERS,
        ...((answer as unknown) instanceof Blob ? { 'content-type': 'image/png' } : {}),
      }),
      async handle({ params: { token }, query: { step }, origin }) {
        const share = sharedRun(db, token, clock.now())
        const run = share && findRun(share)
        // Requests for images on a valid page are not counted, because a page can have many images.
        if (!run || step === undefined) limit.take(networkOf(origin.address))
        const shown = run && (step === undefined ? pageOf(share, run, deps) : await pictureOf(share, run, step))
        if (!shown) throw new AppError('notFound', 'token: the page does not exist or is no longer shared')
        return shown as string
      },
    }),
  ]
}

/** Returns the steps whose screenshots the new link shows. Fails with `invalid` for a step without a screenshot. */
function chosenScreenshots(
  { screenshots = false, screenshotSteps }: ShareInput,
  run: ShareableRun,
  principal: Principal,
): readonly number[] {
  if (!screenshots) {
    if (screenshotSteps === undefined) return []
    throw new AppError('invalid', 'screenshotSteps: requires "screenshots": true')
  }
  requirePermission(principal, 'seePersonal')
  const present = run.screenshots()
  if (screenshotSteps === undefined) return [...present].sort((a, b) => a - b)
  const missing = screenshotSteps.findIndex((step) => !present.has(step))
  if (missing < 0) return screenshotSteps
  throw new AppError('invalid', `screenshotSteps[${missing}]: step ${screenshotSteps[missing]} has no screenshot`)
}

function pageOf(share: SharedRun, run: ShareableRun, { db, privacyOf }: ShareRoutesDeps) {
  const report = run.report()
  if (report?.kind === 'flow') {
    const isShown = new Set(share.screenshots)
    report.steps = report.steps.map((step) => ({ ...step, screenshot: step.screenshot && isShown.has(step.index) }))
  }
  const { orgId, expiresAt } = share
  return report && sharePage(publicReport(report, privacyOf(orgId)), { expiresAt, timezone: timezoneOf(db, orgId) })
}

/** Returns the screenshot of a step; null if the link does not show it. */
const pictureOf = async ({ screenshots }: SharedRun, run: ShareableRun, step: number) =>
  screenshots.includes(step) ? run.screenshot(step) : null
