/** Runs before the page is drawn, while all other scripts are on their way. */
import './theme/apply-colour-scheme.ts'
import { preloadRequests } from './api/preload.ts'
import { overviewPreloadUrls } from './pages/overview/preload-urls.ts'

const isOverview = location.pathname === '/' && !new URLSearchParams(location.search).has('project')
preloadRequests(['/v1/whoami', ...(isOverview ? overviewPreloadUrls : [])])
