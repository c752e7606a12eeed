import { render } from 'preact'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/period.css'
import './styles/calendar.css'
import './styles/document.css'
import './styles/live.css'
import './styles/chart.css'
import './styles/groups.css'
import './styles/overview.css'
import './styles/terms.css'
import './styles/phone.css'
import './styles/contrast.css'
import './styles/print.css'
import 'uplot/dist/uPlot.min.css'
import { startLanguage } from './languages.ts'
import { applyTheme, readTheme } from './theme.ts'

applyTheme(readTheme())
await startLanguage()
// Only now: its constants hold texts in the language of the reader.
const { App } = await import('./app.tsx')
const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
