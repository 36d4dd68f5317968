/** Runs before the page is drawn, while all other scripts are on their way. */
import './theme/first.ts'
import { askAhead } from './api/ahead.ts'
import { askedByOverview } from './pages/overview/ahead.ts'

const isOverview = location.pathname === '/' && !new URLSearchParams(location.search).has('project')
askAhead(['/v1/whoami', ...(isOverview ? askedByOverview : [])])
