import { useSyncExternalStore } from 'react'
import { live } from '../api/stream.ts'
import { messages } from '../messages.ts'

/** Tells who does not see the page how many issues have opened: once for several, and at most once a minute. */
export function NewIssues() {
  const news = useSyncExternalStore(live.subscribe, () => live.read().newIssues)
  return (
    <div aria-live="polite" className="heard">
      {news && (
        // Another one is another element: the same words are said again.
        <span key={news.at}>
          {messages.shell.newIssues(news.count, news.worstCount, messages.api.severities[news.worst].toLowerCase())}
        </span>
      )}
    </div>
  )
}
