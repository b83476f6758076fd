//! Tables as pictures: SVG that is readable on light and on dark pages.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const WIDTH: i32 = 800;
const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
const SERVICE: RGBColor = RGBColor(0x1a, 0x7f, 0x37);
const OTHER: RGBColor = RGBColor(0x8c, 0x95, 0x9f);

/// If the reader prefers dark pages, the second colour replaces the first.
const DARK: [(RGBColor, RGBColor); 3] = [
    (INK, RGBColor(0xd1, 0xd7, 0xe0)),
    (SERVICE, RGBColor(0x3f, 0xb9, 0x50)),
    (OTHER, RGBColor(0x7d, 0x85, 0x90)),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Bars below a title. The first bar is the service's.
pub struct Bars<'a> {
    pub title: &'a str,
    pub bars: Vec<(&'a str, f64)>,
}

/// A line through points of plants and CPU time.
pub struct Line<'a> {
    pub name: &'a str,
    pub points: Vec<(f64, f64)>,
}

/// Writes bars below each other.
pub fn write_bars(file: &Path, figure: &[Bars]) -> Result<()> {
    let heights: Vec<i32> = figure.iter().map(Bars::height).collect();
    let svg = svg(heights.iter().sum(), |mut area| {
        for (bars, height) in figure.iter().zip(heights) {
            let (above, below) = area.split_vertically(height);
            bars.draw(&above)?;
            area = below;
        }
        Ok(())
    })?;
    write(file, &svg)
}

/// Writes the CPU time of a create over the plants that are there.
pub fn write_growth(file: &Path, lines: &[Line]) -> Result<()> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let fewest = points().fold(f64::MAX, |fewest, (plants, _)| fewest.min(*plants));
    let most = points().fold(0.0, |most: f64, (plants, _)| most.max(*plants));
    let highest = points().fold(0.0, |highest: f64, (_, cpu)| highest.max(*cpu));
    let svg = svg(300, |area| {
        area.draw_text(
            "CPU µs/create, by the plants in the store",
            &style(16, HPos::Left),
            (0, 13),
        )?;
        let mut chart = ChartBuilder::on(&area)
            .margin_top(26)
            .margin_right(100)
            .x_label_area_size(30)
            .y_label_area_size(40)
            .build_cartesian_2d((fewest..most).log_scale(), 0.0..highest * 1.1)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .y_labels(5)
            .light_line_style(TRANSPARENT)
            .bold_line_style(OTHER.mix(0.3))
            .axis_style(OTHER)
            .label_style(style(14, HPos::Center))
            .x_label_formatter(&|&plants| amount(plants))
            .draw()?;
        for (line, colour) in lines.iter().zip([SERVICE, OTHER]) {
            chart.draw_series(LineSeries::new(line.points.clone(), colour.stroke_width(3)))?;
            let labels = line.points.iter().map(|&(plants, cpu)| {
                let above = style(14, HPos::Left).pos(Pos::new(HPos::Left, VPos::Bottom));
                EmptyElement::at((plants, cpu))
                    + Circle::new((0, 0), 4, colour.filled())
                    + Text::new(number(cpu), (6, -6), above)
            });
            chart.draw_series(labels)?;
            let end = line.points.last().copied();
            let name = |end| {
                EmptyElement::at(end)
                    + Text::new(line.name.to_owned(), (12, 0), style(14, HPos::Left))
            };
            chart.draw_series(end.map(name))?;
        }
        Ok(())
    })?;
    write(file, &svg)
}

impl Bars<'_> {
    const ROW: i32 = 26;
    const NAMES: i32 = 250;
    const NUMBERS: i32 = 80;

    fn height(&self) -> i32 {
        i32::try_from(self.bars.len() + 2).expect("a few bars") * Self::ROW
    }

    fn draw(&self, area: &Area) -> Result<()> {
        area.draw_text(self.title, &style(16, HPos::Left), (0, Self::ROW / 2))?;
        let largest = self.bars.iter().fold(0.0, |largest: f64, (_, value)| largest.max(*value));
        let longest = f64::from(WIDTH - Self::NAMES - Self::NUMBERS);
        for ((name, value), row) in self.bars.iter().zip(1..) {
            let middle = row * Self::ROW + Self::ROW / 2;
            #[expect(clippy::cast_possible_truncation, reason = "pixels")]
            let end = Self::NAMES + (value / largest * longest) as i32;
            let colour = if row == 1 { SERVICE } else { OTHER };
            let corners = [(Self::NAMES, middle - 9), (end, middle + 9)];
            area.draw(&Rectangle::new(corners, colour.filled()))?;
            area.draw_text(name, &style(14, HPos::Right), (Self::NAMES - 8, middle))?;
            area.draw_text(&number(*value), &style(14, HPos::Left), (end + 6, middle))?;
        }
        Ok(())
    }
}

/// A number of plants in words.
pub fn amount(plants: f64) -> String {
    if plants < 1e6 {
        format!("{} thousand", plants / 1e3)
    } else {
        format!("{} million", plants / 1e6)
    }
}

/// Large numbers have no fraction, as in the tables.
fn number(value: f64) -> String {
    format!("{value:.*}", usize::from(value < 1_000.0))
}

fn style(size: u32, anchor: HPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK).pos(Pos::new(anchor, VPos::Center))
}

fn svg(height: i32, draw: impl FnOnce(Area) -> Result<()>) -> Result<String> {
    let mut svg = String::new();
    let size = (WIDTH.try_into()?, height.try_into()?);
    draw(SVGBackend::with_string(&mut svg, size).into_drawing_area())?;
    let (head, body) = svg.split_once('\n').context("no line of SVG")?;
    Ok(format!("{head}\n{}\n{body}", dark_style()))
}

/// A rule of CSS comes before an attribute of SVG.
fn dark_style() -> String {
    let hex = |RGBColor(red, green, blue)| format!("#{red:02X}{green:02X}{blue:02X}");
    let rules = DARK.map(|(light, dark)| {
        let light = hex(light);
        let dark = hex(dark);
        format!("[fill=\"{light}\"] {{ fill: {dark} }} [stroke=\"{light}\"] {{ stroke: {dark} }}")
    });
    format!("<style>@media (prefers-color-scheme: dark) {{ {} }}</style>", rules.join(" "))
}

fn write(file: &Path, svg: &str) -> Result<()> {
    fs::write(file, svg).with_context(|| format!("cannot write {}", file.display()))
}
