import { render } from 'preact'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/period.css'
import './styles/live.css'
import './styles/chart.css'
import './styles/groups.css'
import './styles/phone.css'
import './styles/contrast.css'
import './styles/print.css'
import 'uplot/dist/uPlot.min.css'
import { App } from './app.tsx'
import { applyTheme, readTheme } from './theme.ts'

applyTheme(readTheme())
const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
