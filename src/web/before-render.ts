/** Runs before the first paint, while the other scripts load. */
import './theme/apply-colour-scheme.ts'
import { preloadRequests } from './api/preload.ts'
import { overviewPreloadUrls } from './pages/overview/preload-urls.ts'

const isOverview = location.pathname === '/' && !new URLSearchParams(location.search).has('project')
preloadRequests(['/v1/whoami', ...(isOverview ? overviewPreloadUrls : [])])
